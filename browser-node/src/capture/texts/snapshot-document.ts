import { type DocumentSnapshot, type Snapshot, STYLES, type Style } from '../devtools/dom-snapshot.ts';
import { type Rect, rectOf } from './page-rect.ts';

const STYLE_INDEX = Object.fromEntries(STYLES.map((name, index) => [name, index])) as Record<Style, number>;

/**
 * One document of a snapshot, by the indexes of its nodes and of its boxes. A node has one box, several or none.
 * Nodes are in document order: a parent directly before all that is in it.
 */
export class SnapshotDocument {
  readonly #document: DocumentSnapshot;
  readonly #strings: string[];
  /** The first box of each node; -1: it has none. */
  readonly #firstBoxes: Int32Array;
  #lastNodesIn: Int32Array | undefined;

  constructor({ strings }: Pick<Snapshot, 'strings'>, document: DocumentSnapshot) {
    this.#document = document;
    this.#strings = strings;
    const { layout, nodes } = document;
    this.#firstBoxes = new Int32Array(nodes.parentIndex?.length ?? 0).fill(-1);
    for (let box = layout.nodeIndex.length - 1; box >= 0; box--)
      this.#firstBoxes[layout.nodeIndex[box] as number] = box;
  }

  get nodeCount(): number {
    return this.#firstBoxes.length;
  }

  get boxCount(): number {
    return this.#document.layout.nodeIndex.length;
  }

  get contentWidth(): number {
    return this.#document.contentWidth ?? 0;
  }

  /** The viewport, in the coordinates of the page. */
  get viewport(): Rect {
    const { scrollOffsetX = 0, scrollOffsetY = 0, layout } = this.#document;
    // The first box is the document's own: as large as the viewport.
    const [, , width = 0, height = 0] = layout.bounds[0] ?? [];
    return rectOf([scrollOffsetX, scrollOffsetY, width, height]);
  }

  /** The first and the last line of each text, by its box. */
  lines(): Map<number, [Rect, Rect]> {
    const { layoutIndex, bounds } = this.#document.textBoxes;
    const lines = new Map<number, [Rect, Rect]>();
    for (const [index, box] of layoutIndex.entries()) {
      const rect = rectOf(bounds[index] ?? []);
      const known = lines.get(box);
      if (known) known[1] = rect;
      else lines.set(box, [rect, rect]);
    }
    return lines;
  }

  /** The values of text areas and of inputs, by node; empty where only a placeholder is shown. */
  formValues(): Map<number, string> {
    const { nodes } = this.#document;
    const values = new Map<number, string>();
    for (const { index = [], value = [] } of [nodes.inputValue ?? {}, nodes.textValue ?? {}])
      for (const [nth, node] of index.entries()) values.set(node, this.#string(value[nth]));
    return values;
  }

  /**
   * The backend ids of the elements outside of shadow roots that have one which the page made; those of closed roots
   * first.
   */
  shadowHosts(): number[] {
    const {
      backendNodeId = [],
      parentIndex = [],
      shadowRootType: { index = [], value = [] } = {},
    } = this.#document.nodes;
    // All nodes in a shadow root are listed with its type.
    const inRoots = new Set(index);
    const hostsOf = (mode: string) =>
      index.flatMap((node, nth) => {
        const host = parentIndex[node] ?? -1;
        return this.#string(value[nth]) === mode && !inRoots.has(host) ? (backendNodeId[host] ?? []) : [];
      });
    return [...new Set([...hostsOf('closed'), ...hostsOf('open')])];
  }

  /** The node with a backend id; -1: none. */
  nodeWithBackendId(backendNodeId: number): number {
    return this.#document.nodes.backendNodeId?.indexOf(backendNodeId) ?? -1;
  }

  /** The element of the frame that shows another document of the snapshot, by the index of that; -1: none. */
  frameElementOf(documentIndex: number): number {
    const { index = [], value = [] } = this.#document.nodes.contentDocumentIndex ?? {};
    return index[value.indexOf(documentIndex)] ?? -1;
  }

  /** -1: none. */
  parentOf(node: number): number {
    return this.#document.nodes.parentIndex?.[node] ?? -1;
  }

  /**
   * In small letters: those of elements of HTML documents are in capital ones, those of XHTML documents as they are
   * written.
   */
  nameOf(node: number): string {
    return this.#string(this.#document.nodes.nodeName?.[node]).toLowerCase();
  }

  attributesOf(node: number): Map<string, string> {
    const all = this.#document.nodes.attributes?.[node] ?? [];
    const attributes = new Map<string, string>();
    for (let at = 0; at + 1 < all.length; at += 2) attributes.set(this.#string(all[at]), this.#string(all[at + 1]));
    return attributes;
  }

  /** Whether a node is `other`, or in it. */
  isIn(node: number, other: number): boolean {
    this.#lastNodesIn ??= lastNodesIn(this.#document.nodes.parentIndex ?? []);
    return node >= other && node <= (this.#lastNodesIn[other] ?? -1);
  }

  /** -1: the node has no box. */
  firstBoxOf(node: number): number {
    return this.#firstBoxes[node] ?? -1;
  }

  nodeOf(box: number): number {
    return this.#document.layout.nodeIndex[box] as number;
  }

  isText(box: number): boolean {
    return (this.#document.layout.text[box] ?? -1) >= 0;
  }

  /** The text that a box lays out; empty if it is the box of an element. */
  textOf(box: number): string {
    return this.#string(this.#document.layout.text[box]);
  }

  hasStyles(box: number): boolean {
    return (this.#document.layout.styles[box]?.length ?? 0) > 0;
  }

  styleOf(box: number, name: Style): string {
    return this.#string(this.#document.layout.styles[box]?.[STYLE_INDEX[name]]);
  }

  rectOf(box: number): Rect {
    return rectOf(this.#document.layout.bounds[box] ?? []);
  }

  /** The area of a box, in square pixels. */
  areaOf(box: number): number {
    const [, , width = 0, height = 0] = this.#document.layout.bounds[box] ?? [];
    return width * height;
  }

  /** A box with a higher number is painted over one with a lower number. */
  paintOrderOf(box: number): number {
    return this.#document.layout.paintOrders?.[box] ?? 0;
  }

  #string(index: number | undefined): string {
    return this.#strings[index ?? -1] ?? '';
  }
}

/** The last node that is in each node, or itself, by the parents of nodes in document order. Pure. */
function lastNodesIn(parents: readonly number[]): Int32Array {
  const last = Int32Array.from(parents.keys());
  for (let node = parents.length - 1; node > 0; node--) {
    const parent = parents[node] as number;
    if (parent >= 0) last[parent] = Math.max(last[parent] as number, last[node] as number);
  }
  return last;
}
