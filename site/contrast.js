/* SPDX-License-Identifier: MIT
 *
 * contrast.js: the texts of a page whose contrast with their background is below WCAG's level AA: 4.5, and 3 for large text. An expression.
 */
(() => {
  const parse = (text) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const colours = new Map();
  const colour = (text) => {
    if (!colours.has(text)) colours.set(text, parse(text));
    return colours.get(text);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(colour(getComputedStyle(at).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
    return layers.reduceRight((below, top) => over(top, below), canvas);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (/^(script|style|noscript|title|option)$/i.test(element.tagName) || element.closest("svg")) continue;
    const style = getComputedStyle(element);
    const behind = background(element);
    const [light, dark] = [over(colour(style.color), behind), behind].map(luminance).sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight, 10) >= 700);
    texts++;
    if (ratio < (large ? 3 : 4.5))
      found.set(`${element.tagName.toLowerCase()}.${element.className}`, `"${walker.currentNode.data.trim().slice(0, 30)}" ${ratio.toFixed(2)}`);
  }
  return { texts, found: [...found].map(([where, what]) => `${where}: ${what}`) };
})()
