import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { type Box, unionOf } from '../box.ts';
import { isOfServer, urlKey } from '../session/urls.ts';
import type { PageDocument, PageFacts, PageNode, PageRequest } from './page-facts.ts';

/** A node of a page: its document's index in the facts, and its own in the document. */
export type NodeRef = { document: number; node: number };

/** A frame whose document was not read counts as showing something from this size on, in pixels. */
const UNREAD_SIDE_MIN = 20;

/** Nodes in an element without an extent whose boxes are looked at. */
const UNBOXED_NODES_MAX = 500;

const LINKS_MAX = 100;
/** Nodes that are looked at for links, and searches of elements of one page. */
const LINK_NODES_MAX = 5_000;
const SEARCHES_MAX = 3_000;

/** Answers questions about the facts of a page: what is in what, what shows something, and who requested what. Pure. */
export class PageIndex {
  readonly facts: PageFacts;
  readonly #inside = new Map<string, number>();
  readonly #byFrame = new Map<string, PageRequest[]>();
  #byUrl: Map<string, PageRequest> | null = null;
  #domains: Set<string> | null = null;
  #searches = 0;
  readonly #ofDocument = new Map<unknown, Map<number, unknown>>();
  readonly #framesIn = new Map<string, number[]>();
  readonly #shows: (boolean[] | null)[];
  readonly #children: (number[][] | null)[];

  constructor(facts: PageFacts) {
    this.facts = facts;
    this.#shows = facts.documents.map(() => null);
    this.#children = facts.documents.map(() => null);
    for (const [index, { owner, parentFrameId }] of facts.documents.entries()) {
      if (owner) this.#inside.set(keyOf(owner), index);
      if (parentFrameId !== null) push(this.#framesIn, parentFrameId, index);
    }
    for (const request of facts.requests) push(this.#byFrame, request.frameId, request);
  }

  documentAt(index: number): PageDocument {
    return this.facts.documents[index] as PageDocument;
  }

  node({ document, node }: NodeRef): PageNode {
    return this.documentAt(document).nodes[node] as PageNode;
  }

  /** The document in a frame's element; null: it has none, or it is not known. */
  documentIn(ref: NodeRef): number | null {
    return this.#inside.get(keyOf(ref)) ?? null;
  }

  /** The element around an element in its document, past shadow roots; null: there is none. */
  parentOf({ document, node }: NodeRef): NodeRef | null {
    const { nodes } = this.documentAt(document);
    let parent = nodes[node]?.parent ?? -1;
    while (nodes[parent]?.tag === '#shadow') parent = nodes[parent]?.parent ?? -1;
    return parent < 0 || nodes[parent]?.tag === '#document' ? null : { document, node: parent };
  }

  /** What is around an element, innermost first: elements, then the elements of the frames that the document is in. */
  *around(ref: NodeRef): Generator<NodeRef> {
    const seen = new Set<number>();
    for (let at: NodeRef | null = ref; at; ) {
      const parent: NodeRef | null = this.parentOf(at);
      if (!parent && seen.has(at.document)) return;
      if (!parent) seen.add(at.document);
      at = parent ?? this.documentAt(at.document).owner;
      if (at) yield at;
    }
  }

  childrenOf({ document, node }: NodeRef): NodeRef[] {
    const known = this.#children[document] ?? childrenIn(this.documentAt(document).nodes);
    this.#children[document] = known;
    return (known[node] ?? []).map((child) => ({ document, node: child }));
  }

  /**
   * Whether a visitor sees something in a node: in the frames in it, too. A frame that was not read may show anything.
   */
  shows({ document, node }: NodeRef): boolean {
    const known = this.#shows[document] ?? this.#showsIn(document);
    return known[node] ?? false;
  }

  #showsIn(document: number): boolean[] {
    // What a cycle of frames would ask again is not known yet.
    this.#shows[document] = [];
    const { nodes } = this.documentAt(document);
    const shows = nodes.map(
      (node, index) => node.isShown && (node.paints || this.#frameShows({ document, node: index })),
    );
    for (let index = nodes.length - 1; index > 0; index -= 1) {
      const parent = nodes[index]?.parent ?? -1;
      if (shows[index] && parent >= 0) shows[parent] = true;
    }
    this.#shows[document] = shows;
    return shows;
  }

  #frameShows(ref: NodeRef): boolean {
    const { tag, box } = this.node(ref);
    const inside = this.documentIn(ref);
    if (inside === null) return false;
    if (this.documentAt(inside).isRead) return this.shows({ document: inside, node: 0 });
    return isFrame(tag) && box !== null && box.width >= UNREAD_SIDE_MIN && box.height >= UNREAD_SIDE_MIN;
  }

  /** A node and all that is in it, in the order of the page: in the frames in it, too. */
  *within(ref: NodeRef): Generator<NodeRef> {
    const stack = [ref];
    for (let at = stack.pop(); at; at = stack.pop()) {
      yield at;
      const inside = this.documentIn(at);
      const next = this.childrenOf(at);
      if (inside !== null && this.documentAt(inside).nodes.length > 0) next.push({ document: inside, node: 0 });
      for (let index = next.length - 1; index >= 0; index -= 1) stack.push(next[index] as NodeRef);
    }
  }

  /** The frames in a node, itself included, and the frames in these, outermost first: indexes of their documents. */
  framesWithin(ref: NodeRef): number[] {
    const documents = new Set<number>();
    for (const at of this.within(ref)) {
      const inside = this.documentIn(at);
      if (inside !== null) for (const one of this.withFramesIn(inside)) documents.add(one);
    }
    return [...documents];
  }

  /** A document and those of all frames in it, whether their elements are known or not. */
  withFramesIn(document: number): number[] {
    const all = new Set([document]);
    for (const one of all) for (const child of this.#framesIn.get(this.documentAt(one).frameId) ?? []) all.add(child);
    return [...all];
  }

  /** An address in a document as an absolute URL; '' where it is none. */
  resolve(document: number, address: string): string {
    if (address === '') return '';
    let at = document;
    // A frame without an address of its own has that of the document around it.
    for (let depth = 0; depth < 20 && !isOfServer(this.#baseOf(at)); depth += 1)
      at = this.documentAt(at).owner?.document ?? 0;
    return URL.parse(address, this.#baseOf(at))?.href ?? '';
  }

  #baseOf(document: number): string {
    const { url, baseUrl = '' } = this.documentAt(document);
    return isOfServer(baseUrl) ? baseUrl : url;
  }

  /** The registrable domains of what was requested. */
  requestedDomains(): ReadonlySet<string> {
    this.#domains ??= new Set(
      [...new Map(this.facts.requests.map(({ url }) => [hostOf(url), url])).values()].map(registrableDomain),
    );
    return this.#domains;
  }

  /**
   * Whether a further search of what is in an element may be made: a page of thousands of signs must not hold up the
   * node.
   */
  maySearch(): boolean {
    this.#searches += 1;
    return this.#searches <= SEARCHES_MAX;
  }

  /** What `make` returns for a document, made once. `make` is the same function each time. */
  ofDocument<Result>(document: number, make: (page: PageIndex, document: number) => Result): Result {
    const known = this.#ofDocument.get(make) ?? new Map<number, unknown>();
    this.#ofDocument.set(make, known);
    if (!known.has(document)) known.set(document, make(this, document));
    return known.get(document) as Result;
  }

  /** The links in a node, at most {@link LINKS_MAX}. */
  *linksWithin(ref: NodeRef): Generator<string> {
    let left = LINKS_MAX;
    let nodesLeft = LINK_NODES_MAX;
    for (const at of this.within(ref)) {
      const { tag, attributes } = this.node(at);
      nodesLeft -= 1;
      if (nodesLeft === 0) return;
      if (tag !== 'a') continue;
      yield this.resolve(at.document, attributes.href ?? '');
      left -= 1;
      if (left === 0) return;
    }
  }

  /**
   * The requests of the frames directly in a document, and of those around it that share its site: its scripts may have
   * written them.
   */
  requestsAround(document: number): PageRequest[] {
    const inside = this.#framesIn.get(this.documentAt(document).frameId) ?? [];
    const outer = this.documentAt(document).owner?.document;
    const isWritten = !isOfServer(this.documentAt(document).url);
    const documents = [...inside, ...(isWritten && outer !== undefined ? [outer] : [])];
    return documents.flatMap((one) => this.requestsOf(one));
  }

  /** The first request for a URL; null: there was none. */
  requestFor(url: string): PageRequest | null {
    this.#byUrl ??= new Map(this.facts.requests.toReversed().map((request) => [urlKey(request.url), request]));
    return this.#byUrl.get(urlKey(url)) ?? null;
  }

  /** The requests that a document's frame made, those for its own documents included. */
  requestsOf(document: number): readonly PageRequest[] {
    return this.#byFrame.get(this.documentAt(document).frameId) ?? [];
  }

  /**
   * Where a node is shown: its box, or if that is empty, the box around the nodes in it that show something. Null:
   * nowhere.
   */
  shownBox(ref: NodeRef): Box | null {
    const { box } = this.node(ref);
    if (box && box.width >= 1 && box.height >= 1) return box;
    const boxes: Box[] = [];
    let left = UNBOXED_NODES_MAX;
    for (const at of this.within(ref)) {
      const inside = this.node(at).box;
      if (inside && inside.width >= 1 && inside.height >= 1 && this.shows(at)) boxes.push(inside);
      left -= 1;
      if (left === 0) break;
    }
    return unionOf(boxes);
  }
}

export const keyOf = ({ document, node }: NodeRef): string => `${document}:${node}`;

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

export const isFrame = (tag: string): boolean => tag === 'iframe' || tag === 'frame' || tag === 'fencedframe';

function childrenIn(nodes: readonly PageNode[]): number[][] {
  const children: number[][] = nodes.map(() => []);
  for (const [index, { parent }] of nodes.entries()) if (parent >= 0) children[parent]?.push(index);
  return children;
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
