// The start of the chapter.

ui.hardware.hidden = false;
showChecks();
showClaim();
const layerChosen = showLayers(openLayer);
showStages();
startNeurons();
showWave();
showFloor();
showSizes();
