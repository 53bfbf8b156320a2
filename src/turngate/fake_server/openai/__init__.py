"""The OpenAI API: reads `images/edits` and `chat/completions` requests and answers them."""
