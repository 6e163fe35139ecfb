import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DocumentSnapshot, STYLES, type Style } from '../src/capture/devtools/dom-snapshot.ts';
import { BoxVisibility } from '../src/capture/texts/box-visibility.ts';
import { type DocumentText, readDocumentText } from '../src/capture/texts/document-text.ts';
import { SnapshotDocument } from '../src/capture/texts/snapshot-document.ts';

type Box = [x: number, y: number, width: number, height: number];
/** A node of a fake page: its box, its text if it is one, its styles and what is in it. `order`: when it is painted. */
type Node = {
  name?: string;
  box: Box;
  text?: string;
  styles?: Partial<Record<Style, string>>;
  order?: number;
  in?: Node[];
};

const DEFAULTS: Partial<Record<Style, string>> = {
  ...{ display: 'block', position: 'static', visibility: 'visible', opacity: '1', 'overflow-x': 'visible' },
  ...{ 'overflow-y': 'visible', clip: 'auto', 'clip-path': 'none', transform: 'none', 'font-size': '16px' },
  ...{ '-webkit-text-fill-color': 'rgb(0, 0, 0)', '-webkit-text-stroke-width': '0px', 'text-shadow': 'none' },
  ...{ 'background-color': 'rgba(0, 0, 0, 0)', 'background-image': 'none', 'background-clip': 'border-box' },
  ...{ 'mix-blend-mode': 'normal', 'mask-image': 'none', filter: 'none' },
  ...{ direction: 'ltr', 'unicode-bidi': 'normal' },
};
const VIEWPORT: Box = [0, 0, 1000, 600];

/** Reads a page of these nodes, with a viewport of 1000 by 600 pixels. */
function read(...content: Node[]): DocumentText {
  return readDrawn('', ...content);
}

/** The same, with canvases on which a text is drawn. */
function readDrawn(drawn: string, ...content: Node[]): DocumentText {
  const strings: string[] = [];
  const string = (text: string) => strings.push(text) - 1;
  const nodes = { parentIndex: [] as number[], nodeName: [] as number[] };
  const layout = {
    ...{ nodeIndex: [] as number[], styles: [] as number[][], bounds: [] as number[][] },
    ...{ text: [] as number[], paintOrders: [] as number[] },
  };
  const add = (node: Node, parent: number, inherited: Partial<Record<Style, string>>) => {
    const index = nodes.parentIndex.push(parent) - 1;
    nodes.nodeName.push(string(node.name ?? (node.text === undefined ? 'DIV' : '#text')));
    // A text has the styles of its element.
    const styles = { ...(node.text === undefined ? DEFAULTS : inherited), ...node.styles };
    layout.nodeIndex.push(index);
    layout.styles.push(STYLES.map((name) => string(styles[name] ?? '')));
    layout.bounds.push(node.box);
    layout.text.push(node.text === undefined ? -1 : string(node.text));
    layout.paintOrders.push(node.order ?? 1);
    for (const child of node.in ?? []) add(child, index, styles);
  };
  add({ box: VIEWPORT, in: content }, -1, DEFAULTS);
  const textBoxes = { layoutIndex: [], bounds: [], start: [], length: [] };
  const document = { nodes, layout, textBoxes, contentWidth: 1000, scrollOffsetX: 0, scrollOffsetY: 0 };
  const snapped = new SnapshotDocument({ strings }, document as unknown as DocumentSnapshot);
  return readDocumentText(snapped, new BoxVisibility(snapped), 'viewport', drawn);
}

const line = (text: string, y = 10, styles: Node['styles'] = {}): Node => {
  return { box: [10, y, 400, 20], styles, in: [{ box: [10, y, 400, 20], text }] };
};
/** The parts of a text: what is in view, elsewhere on the page, and unseen. */
const partsOf = ({ text, viewportLength, pageLength }: DocumentText) => [
  text.slice(0, viewportLength),
  text.slice(viewportLength, pageLength).trim(),
  text.slice(pageLength).trim(),
];

describe('the text of a document', () => {
  it('has what is drawn on canvases where the largest of them is, in HTML and in XHTML', () => {
    const canvas = (name: string, box: Box, styles: Node['styles'] = {}): Node => ({ name, box, styles });
    const text = 'Your PC is infected';
    const around = (...canvases: Node[]) => [line('before', 10), ...canvases, line('after', 500)];
    const page = (box: Box, styles?: Node['styles'], name = 'CANVAS') =>
      partsOf(readDrawn(text, ...around(canvas(name, [0, 0, 20, 20]), canvas(name, box, styles))));
    assert.deepEqual(page([0, 40, 900, 400]), [`before\n${text}\nafter`, '', '']);
    assert.deepEqual(page([0, 40, 900, 400], {}, 'canvas'), [`before\n${text}\nafter`, '', '']);
    assert.deepEqual(page([0, 4_000, 900, 400]), ['before\nafter', text, '']);
    assert.deepEqual(page([0, 40, 900, 400], { opacity: '0' }), ['before\nafter', '', text]);
    assert.deepEqual(partsOf(readDrawn(text, line('no canvas'))), ['no canvas', '', '']);
  });

  it('is what is in view, then what is elsewhere on the page, then what nobody sees', () => {
    const page = read(
      line('unseen', 10, { opacity: '0.05' }),
      line('below', 900),
      line('in view'),
      line('far', 20_000),
    );
    assert.deepEqual(partsOf(page), ['in view', 'below', 'unseen\nfar']);
  });

  it('has no text that is transparent, tiny, cut away, or in the colour of its background', () => {
    const unseen: Node['styles'][] = [
      { opacity: '0' },
      { 'font-size': '1px' },
      { 'clip-path': 'inset(50%)' },
      { clip: 'rect(0px, 0px, 0px, 0px)' },
      { '-webkit-text-fill-color': 'rgba(0, 0, 0, 0)' },
      { '-webkit-text-fill-color': 'rgb(254, 254, 254)' },
      { '-webkit-text-fill-color': 'rgb(0, 0, 99)', 'background-color': 'rgb(0, 0, 99)' },
    ];
    for (const styles of unseen)
      assert.deepEqual(partsOf(read(line('text', 10, styles))), ['', '', 'text'], JSON.stringify(styles));
    const seen: Node['styles'][] = [
      { '-webkit-text-fill-color': 'rgba(0, 0, 0, 0)', 'background-clip': 'text', 'background-image': 'url(x)' },
      { '-webkit-text-fill-color': 'rgba(0, 0, 0, 0)', 'text-shadow': 'rgb(0, 0, 0) 0px 0px 1px' },
      { '-webkit-text-fill-color': 'rgb(255, 255, 255)', 'background-color': 'rgb(0, 0, 99)' },
      { '-webkit-text-fill-color': 'rgb(255, 255, 255)', 'background-image': 'url(x)' },
      { '-webkit-text-fill-color': 'color(srgb 1 1 1)' },
    ];
    for (const styles of seen)
      assert.deepEqual(partsOf(read(line('text', 10, styles))), ['text', '', ''], JSON.stringify(styles));
    const picture: Node = { box: [0, 0, 500, 500], styles: { 'background-image': 'url(x)' } };
    const white = line('text', 10, { '-webkit-text-fill-color': 'rgb(255, 255, 255)' });
    assert.deepEqual(partsOf(read(picture, white)), ['text', '', '']);
    assert.deepEqual(partsOf(read(line('text', 10, { visibility: 'hidden' }))), ['', '', '']);
  });

  it('has no text outside of the boxes that clip it, and has what can be scrolled into view', () => {
    const within = (styles: Node['styles'], box: Box, inner: Node['styles'] = {}): Node => {
      return { box, styles, in: [line('text', 300, inner)] };
    };
    const hidden = { 'overflow-x': 'hidden', 'overflow-y': 'hidden' };
    assert.deepEqual(partsOf(read(within(hidden, [0, 0, 500, 100]))), ['', '', 'text']);
    assert.deepEqual(partsOf(read(within(hidden, [0, 0, 500, 400]))), ['text', '', '']);
    assert.deepEqual(partsOf(read(within(hidden, [0, 0, 500, 100], { position: 'absolute' }))), ['text', '', '']);
    const positioned = { ...hidden, position: 'relative' };
    assert.deepEqual(partsOf(read(within(positioned, [0, 0, 500, 100], { position: 'absolute' }))), ['', '', 'text']);
    const scrolled = { 'overflow-x': 'auto', 'overflow-y': 'auto' };
    assert.deepEqual(partsOf(read(within(scrolled, [0, 0, 500, 100]))), ['text', '', '']);
    assert.deepEqual(partsOf(read(within(scrolled, [0, 0, 1, 1]))), ['', '', 'text']);
  });

  it('has no text under an opaque box, and has that under a box that lets it through', () => {
    const over = (styles: Node['styles']): Node => {
      return { box: VIEWPORT, order: 2, styles: { position: 'fixed', 'background-color': 'rgb(9, 9, 9)', ...styles } };
    };
    assert.deepEqual(partsOf(read(line('text'), line('below', 900), over({}))), ['', '', 'text\nbelow']);
    for (const styles of [{ 'mix-blend-mode': 'multiply' }, { opacity: '0.5' }, { 'clip-path': 'inset(50%)' }])
      assert.deepEqual(partsOf(read(line('text'), over(styles))), ['text', '', ''], JSON.stringify(styles));
  });

  it('is read by lines as they look', () => {
    const inline = (text: string, x: number, y = 10): Node => {
      return { box: [x, y, 10, 20], styles: { display: 'inline' }, in: [{ box: [x, y, 10, 20], text }] };
    };
    const letter = (text: string, x: number, y = 10): Node => {
      return { box: [x, y, 10, 20], in: [{ box: [x, y, 10, 20], text }] };
    };
    const block = (...content: Node[]): Node => ({ box: [0, 0, 500, 60], in: content });
    const textOf = (...content: Node[]) => read(block(...content)).text;
    assert.equal(textOf(inline('a ', 0), inline('b', 20), inline(' c', 0, 30)), 'a b c');
    assert.equal(textOf(letter('a', 0), letter('b', 10), letter('c', 25), letter('d', 90)), 'ab c\nd');
    assert.equal(textOf(letter('a', 480), letter('b', 0, 31)), 'ab');
    assert.equal(textOf(letter('one', 0), letter('two', 0, 30)), 'one\ntwo');
    const reversed = { direction: 'rtl', 'unicode-bidi': 'bidi-override' };
    assert.equal(read(line('dekcol', 10, reversed)).text, 'locked');
  });
});
