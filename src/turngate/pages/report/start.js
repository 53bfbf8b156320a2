"use strict";
window.turngate.start();
