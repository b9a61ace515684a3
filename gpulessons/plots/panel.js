/* A slider is called by its label and says its value in words, at every move. The handle is noUi's
   in ipywidgets 8 and jQuery UI's in 7.7; a list keeps keys that the notebook would take. */
const box = this.closest('.gpulessons');
const set = (node, name, value) => {  /* nothing that stands already, or it would never end */
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
};
const speak = () => {
  for (const slider of box.querySelectorAll('.widget-slider')) {
    const [handle, label, value] = ['.noUi-handle, .ui-slider-handle', 'label', '.widget-readout']
      .map(part => slider.querySelector(part));
    if (!handle) continue;
    set(handle, 'role', 'slider');
    set(handle, 'aria-label', label.textContent);
    set(handle, 'aria-valuetext', value.textContent);
    set(value, 'contenteditable', 'false');
  }
  box.querySelectorAll('select')
    .forEach(list => set(list, 'data-lm-suppress-shortcuts', 'true'));
};
new MutationObserver(speak).observe(box, {subtree: true, childList: true, characterData: true,
  attributes: true, attributeFilter: ['aria-valuetext', 'contenteditable']});
speak();
