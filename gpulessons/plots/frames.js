(async figure => {
  const packed = Uint8Array.from(atob(figure.querySelector('script').textContent),
    letter => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  const {controls, frames, tags} = JSON.parse(await new Response(unpacked).text());
  const shown = document.createElement('div');
  const sliders = controls.map(({name, values, start}) => {
    const [label, named, told] = ['label', 'span', 'output'].map(kind =>
      document.createElement(kind));
    const slider = Object.assign(document.createElement('input'),
      {type: 'range', min: 0, max: values.length - 1, value: start});
    label.style = 'display: flex; flex-wrap: wrap; gap: 0 1em; align-items: center';
    slider.style = 'flex: 1 1 12em; max-width: 30em';
    named.textContent = name;
    named.style = 'min-width: 12em';
    slider.oninput = () => {
      told.textContent = values[slider.value];
      slider.setAttribute('aria-valuetext', values[slider.value]);
      show();
    };
    slider.onkeydown = event => event.stopPropagation();  // a notebook takes the arrow keys
    label.append(named, slider, told);
    return label;
  });
  const show = () => {
    const at = sliders.reduce((sum, label, n) =>
      sum * controls[n].values.length + Number(label.children[1].value), 0);
    const [places, words] = frames[at];
    shown.innerHTML = places.map(place => tags[place]).join('<');
    shown.ariaLabel = words;
    shown.setAttribute('role', shown.querySelector('[tabindex]') ? 'figure' : 'img');
  };
  figure.firstElementChild.replaceWith(...sliders, shown);
  sliders.forEach(label => label.children[1].oninput());
  show();  // where there is no slider to do it
})(document.currentScript.parentNode);
