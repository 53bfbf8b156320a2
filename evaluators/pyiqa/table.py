"""Which files of weights each metric of pyiqa opens, as read from pyiqa 0.1.16.

An entry is `place/name`. Places: `pyiqa`, `checkpoints` and `clip` are folders of torch's hub cache, `face` is `pyiqa`
again for the face detector, `openai` is ~/.cache/clip, `timm` and `repo` are repositories of the Hugging Face hub.
Names are those on the disk: pyiqa keeps `+` as `%2B`.
"""

from __future__ import annotations

__all__ = ["FILES"]

_ALEX = "checkpoints/alexnet-owt-7be5be79.pth"
_VGG16 = "checkpoints/vgg16-397923af.pth"
_RESNET50 = "checkpoints/resnet50-0676ba61.pth"
_SWIN = "checkpoints/swin_base_patch4_window12_384_22kto1k.pth"
_ARNIQA = (_RESNET50, "checkpoints/ARNIQA.pth")
_TIMM_RESNET50 = "timm/timm/resnet50.a1_in1k"
_TIMM_VIT = "timm/timm/vit_base_patch8_224.augreg2_in21k_ft_in1k"
_TIMM_INCEPTION = "timm/timm/inception_resnet_v2.tf_in1k"
_RN50 = "clip/RN50.pt"
_VIT_B = "clip/ViT-B-32.pt"
_FACE = ("face/detection_Resnet50_Final.pth", "face/parsing_parsenet.pth")
_QUALICLIP = (_RN50, "pyiqa/QualiCLIP.pth")
_FGRESQ = ("repo/openai/clip-vit-base-patch16", "pyiqa/FGResQ_Degradation.pth", "pyiqa/FGResQ.pth")
_AFINE = ("openai/ViT-B-32.pt", "pyiqa/afine.pth")
_ONE_ALIGN = ("repo/q-future/one-align",)

FILES: dict[str, tuple[str, ...]] = {
    "afine_all": _AFINE,
    "afine_all_scale": _AFINE,
    "afine_fr": _AFINE,
    "afine_nr": _AFINE,
    "ahiq": (_TIMM_RESNET50, _TIMM_VIT, "pyiqa/AHIQ_vit_p8_epoch33-da3ea303.pth"),
    "arniqa": (*_ARNIQA, "pyiqa/regressor_koniq10k.pth"),
    "arniqa-clive": (*_ARNIQA, "pyiqa/regressor_clive.pth"),
    "arniqa-csiq": (*_ARNIQA, "pyiqa/regressor_csiq.pth"),
    "arniqa-flive": (*_ARNIQA, "pyiqa/regressor_flive.pth"),
    "arniqa-kadid": (*_ARNIQA, "pyiqa/regressor_kadid10k.pth"),
    "arniqa-live": (*_ARNIQA, "pyiqa/regressor_live.pth"),
    "arniqa-spaq": (*_ARNIQA, "pyiqa/regressor_spaq.pth"),
    "arniqa-tid": (*_ARNIQA, "pyiqa/regressor_tid2013.pth"),
    "brisque": ("pyiqa/brisque_svm_weights.pth",),
    "brisque_matlab": ("pyiqa/brisque_matlab.mat",),
    "ckdn": ("checkpoints/resnet50-19c8e357.pth", "pyiqa/CKDN_model_best-38b27dc6.pth"),
    "clipiqa": (_RN50,),
    "clipiqa+": (_RN50, "pyiqa/CLIP-IQA%2B_learned_prompts-603f3273.pth"),
    "clipiqa+_rn50_512": (_RN50, "pyiqa/CLIPIQA%2B_RN50_512-89f5d940.pth"),
    "clipiqa+_vitL14_512": ("clip/ViT-L-14.pt", "pyiqa/CLIPIQA%2B_ViTL14_512-e66488f2.pth"),
    "clipscore": ("openai/ViT-B-32.pt",),
    "cnniqa": ("pyiqa/CNNIQA_koniq10k-e6f14c91.pth",),
    "compare2score": ("repo/q-future/Compare2Score", "repo/VQA-CityU/Compare2Score_1"),
    "cw_ssim": (),
    "dbcnn": (_VGG16, "pyiqa/DBCNN_scnn-7ea73d75.pth", "pyiqa/DBCNN_KonIQ10k-2de81c0a.pth"),
    "deepdc": ("checkpoints/vgg19-dcbb9e9d.pth",),
    "dists": (_VGG16, "pyiqa/DISTS_weights-f5e65c96.pth"),
    "dmm": (_VGG16,),
    "entropy": (),
    "fgresq": _FGRESQ,
    "fgresq_pair": _FGRESQ,
    "fsim": (),
    "gmsd": (),
    "hyperiqa": (_TIMM_RESNET50, "pyiqa/HyperIQA-resnet50-koniq10k-c96c41b1.pth"),
    "ilniqe": ("pyiqa/ILNIQE_templateModel.mat",),
    "laion_aes": ("openai/ViT-L-14.pt", "pyiqa/sac%2Blogos%2Bava1-l14-linearMSE.pth"),
    "liqe": (_VIT_B, "pyiqa/liqe_koniq.pt"),
    "liqe_mix": (_VIT_B, "pyiqa/liqe_mix.pt"),
    "lpips": (_ALEX, "pyiqa/LPIPS_v0.1_alex-df73285e.pth"),
    "lpips+": (_ALEX, "pyiqa/LPIPS_v0.1_alex-df73285e.pth"),
    "lpips-vgg": (_VGG16, "pyiqa/LPIPS_v0.1_vgg-a78928a0.pth"),
    "lpips-vgg+": (_VGG16, "pyiqa/LPIPS_v0.1_vgg-a78928a0.pth"),
    "maclip": (_RN50,),
    "mad": (),
    "maniqa": (_TIMM_VIT, "pyiqa/ckpt_koniq10k.pt"),
    "maniqa-kadid": (_TIMM_VIT, "pyiqa/ckpt_kadid10k.pt"),
    "maniqa-pipal": (_TIMM_VIT, "pyiqa/MANIQA_PIPAL-ae6d356b.pth"),
    "metaiqa": ("pyiqa/Metaiqa_livec.pth",),
    "ms_ssim": (),
    "msswd": ("pyiqa/msswd_weights.pth",),
    "musiq": ("pyiqa/musiq_koniq_ckpt-e95806b9.pth",),
    "musiq-ava": ("pyiqa/musiq_ava_ckpt-e8d3f067.pth",),
    "musiq-paq2piq": ("pyiqa/musiq_paq2piq_ckpt-364c0c84.pth",),
    "musiq-spaq": ("pyiqa/musiq_spaq_ckpt-358bb6af.pth",),
    "nima": (_TIMM_INCEPTION, "pyiqa/NIMA_InceptionV2_ava-b0c77c00.pth"),
    "nima-koniq": (_TIMM_INCEPTION, "pyiqa/NIMA_koniq-250367ae.pth"),
    "nima-spaq": (_TIMM_INCEPTION, "pyiqa/NIMA-spaq-46a7fcb7.pth"),
    "nima-vgg16-ava": ("timm/timm/vgg16.tv_in1k", "pyiqa/NIMA_VGG16_ava-dc4e8265.pth"),
    "niqe": ("pyiqa/niqe_modelparameters.mat",),
    "niqe_matlab": ("pyiqa/niqe_matlab_params.mat",),
    "nlpd": (),
    "nrqm": ("pyiqa/NRQM_model.mat",),
    "paq2piq": ("checkpoints/resnet18-f37072fd.pth", "pyiqa/P2P_RoIPoolModel-fit.10.bs.120-ca69882e.pth"),
    "pi": ("pyiqa/NRQM_model.mat", "pyiqa/niqe_modelparameters.mat"),
    "pieapp": ("pyiqa/PieAPPv0.1-0937b014.pth",),
    "piqe": (),
    "psnr": (),
    "psnry": (),
    "qalign": _ONE_ALIGN,
    "qalign_4bit": _ONE_ALIGN,
    "qalign_8bit": _ONE_ALIGN,
    "qrealign": ("repo/q-future/Q-ReAlign-Mini-0.8B",),
    "qrealign-lite": ("repo/q-future/Q-ReAlign-Lite-4B",),
    "qrealign-mini": ("repo/q-future/Q-ReAlign-Mini-0.8B",),
    "qrealign-pro": ("repo/q-future/Q-ReAlign-Pro-9B",),
    "qualiclip": _QUALICLIP,
    "qualiclip+": (*_QUALICLIP, "pyiqa/QualiCLIP%2B_koniq.pth"),
    "qualiclip+-clive": (*_QUALICLIP, "pyiqa/QualiCLIP%2B_clive.pth"),
    "qualiclip+-flive": (*_QUALICLIP, "pyiqa/QualiCLIP%2B_flive.pth"),
    "qualiclip+-spaq": (*_QUALICLIP, "pyiqa/QualiCLIP%2B_spaq.pth"),
    "ssim": (),
    "ssimc": (),
    "stlpips": ("pyiqa/alex_shift_tolerant.pth",),
    "stlpips-vgg": ("pyiqa/vgg_shift_tolerant.pth",),
    "topiq_fr": (_TIMM_RESNET50, "pyiqa/cfanet_fr_kadid_res50-2c4cc61d.pth"),
    "topiq_fr-pipal": (_TIMM_RESNET50, "pyiqa/cfanet_fr_pipal_res50-69bbe5ba.pth"),
    "topiq_iaa": (_SWIN, "pyiqa/cfanet_iaa_ava_swin-393b41b4.pth"),
    "topiq_iaa_res50": (_TIMM_RESNET50, "pyiqa/cfanet_iaa_ava_res50-3cd62bb3.pth"),
    "topiq_nr": (_TIMM_RESNET50, "pyiqa/cfanet_nr_koniq_res50-9a73138b.pth"),
    "topiq_nr-face": (_TIMM_RESNET50, "pyiqa/topiq_nr_cgfiqa_res50-0a8b8e4f.pth", *_FACE),
    "topiq_nr-face-v1": (_TIMM_RESNET50, "pyiqa/topiq_nr_gfiqa_res50-d76bf1ae.pth", *_FACE),
    "topiq_nr-flive": (_TIMM_RESNET50, "pyiqa/cfanet_nr_flive_res50-ded1c74e.pth"),
    "topiq_nr-spaq": (_TIMM_RESNET50, "pyiqa/cfanet_nr_spaq_res50-a7f799ac.pth"),
    "topiq_nr_swin-face": (_SWIN, "pyiqa/topiq_nr_gfiqa_swin-7bb80a60.pth", *_FACE),
    "tres": (_RESNET50, "pyiqa/tres_koniq-f0502926.pth"),
    "tres-flive": (_RESNET50, "pyiqa/tres_flive-09b0de5b.pth"),
    "unique": ("checkpoints/resnet34-b627a593.pth", "pyiqa/UNIQUE.pt"),
    "uranker": ("pyiqa/URanker_ckpt-450eb36d.pth",),
    "vif": (),
    "vsi": (),
    "wadiqam_fr": ("pyiqa/WaDIQaM-kadid-f7541ea5.pth",),
    "wadiqam_nr": ("pyiqa/WaDIQaM-NR-koniq-aaffea29.pth",),
}
"""Metric -> its files; empty where it needs none. A metric that is not here came with a later pyiqa."""
