import { asVast2 } from '@adsweep/shared/vast/vast-one.ts';
import { writeXml, type XmlElement } from '@adsweep/shared/vast/xml.ts';
import type { ChainAd, ChainDocument, Resolution, ResolvedAd } from './wrapper-chain.ts';

/** The elements of a wrapper that are added to the inline ad beside its own. */
const MERGED = ['Impression', 'Error'];
const BEFORE_ERRORS = ['AdSystem', 'AdTitle'];
/**
 * The most characters that wrappers add to a document: a video's trackers go into every video of an ad, and a hostile
 * document has thousands.
 */
const ADDED_MAX = 4_000_000;
/** The least that each addition counts. */
const ADDITION = 100;

/**
 * The inline document of a tag as XML, each ad with its wrappers' impressions, errors, tracking, click tracking,
 * viewable impressions, verifications and extensions merged in (spec 4.3); VAST 1.x as VAST 2.0. Where the tag has no
 * ad, its last VAST document; null where there is none.
 */
export function mergeDocument({ chain, ads }: Pick<Resolution, 'chain' | 'ads'>): string | null {
  const document = chain[ads[0]?.document ?? chain.findLastIndex(({ vast }) => vast !== null)]?.root;
  if (!document) return null;
  const base = asVast2(document);
  const budget = new AdditionBudget();
  const merged = ads.flatMap((ad) => mergedAd(chain, ad, budget));
  const root = ads.length > 0 ? { ...base, text: '', children: merged.length > 1 ? merged.map(inPod) : merged } : base;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeXml(root)}\n`;
}

/** How much may still be added to a document. An addition that does not fit is left out, and so are all after it. */
class AdditionBudget {
  #left = ADDED_MAX;

  take(added: readonly XmlElement[]): readonly XmlElement[] {
    if (this.#left === 0) return [];
    const size = added.reduce((sum, element) => sum + writeXml(element).length, ADDITION);
    this.#left = size > this.#left ? 0 : this.#left - size;
    return this.#left === 0 ? [] : added;
  }

  get isFull(): boolean {
    return this.#left === 0;
  }
}

/** Several ads are a pod, also where the wrappers around them had the sequence numbers (VAST 4.3, 3.3.1). */
const inPod = (ad: XmlElement, at: number): XmlElement => ({
  ...ad,
  attributes: { ...ad.attributes, sequence: String(at + 1) },
});

function mergedAd(chain: readonly ChainDocument[], resolved: ResolvedAd, budget: AdditionBudget): XmlElement[] {
  const own = elementOf(chain, resolved);
  const inline = own?.children.find(({ name }) => name === 'InLine');
  if (!own || !inline) return own ? [own] : [];
  const wrappers = resolved.wrappers.toReversed().flatMap((at) => {
    const wrapper = elementOf(chain, at)?.children.find(({ name }) => name === 'Wrapper');
    return wrapper ? [wrapper] : [];
  });
  const merge = (into: XmlElement, wrapper: XmlElement) => mergeWrapper(into, wrapper, budget);
  return [{ ...own, children: [wrappers.reduce(merge, inline)] }];
}

/** The element of an ad: a document's elements and its parsed ads are in the same order. */
function elementOf(chain: readonly ChainDocument[], { document, ad }: ChainAd): XmlElement | undefined {
  const { root, vast } = chain[document] as ChainDocument;
  const elements = root ? asVast2(root).children.filter(isAd) : [];
  return elements[vast?.ads.indexOf(ad) ?? -1];
}

const isAd = ({ name, children }: XmlElement): boolean => name === 'Ad' && children.some(isBody);
const isBody = ({ name }: XmlElement): boolean => name === 'InLine' || name === 'Wrapper';

function mergeWrapper(inline: XmlElement, wrapper: XmlElement, budget: AdditionBudget): XmlElement {
  const added = MERGED.map((name) => childrenOf(wrapper, name));
  const containers = ['ViewableImpression', 'AdVerifications', 'Extensions'];
  const merged = containers.reduce(
    (into, name) => mergeContainer(into, childOf(wrapper, name), budget),
    added.reduce((into, elements) => addBesideOthers(into, elements, budget), inline),
  );
  const creatives = childOf(wrapper, 'Creatives');
  return mapChild(merged, 'Creatives', (own) => mergeCreatives(own, creatives, budget));
}

/** Adds elements after the last one of their name, or where the standard's order has them (VAST 4.3, 3.4). */
function addBesideOthers(into: XmlElement, elements: readonly XmlElement[], budget: AdditionBudget): XmlElement {
  const [first] = elements;
  if (!first) return into;
  const at = into.children.findLastIndex(({ name }) => name === first.name || BEFORE_ERRORS.includes(name)) + 1;
  return { ...into, children: [...into.children.slice(0, at), ...budget.take(elements), ...into.children.slice(at)] };
}

/** Adds a container's elements to the container of the same name, or the whole container where there is none. */
function mergeContainer(into: XmlElement, container: XmlElement | undefined, budget: AdditionBudget): XmlElement {
  if (!container) return into;
  if (!childOf(into, container.name)) return withChildren(into, budget.take([container]));
  return mapChild(into, container.name, (own) => {
    // An ad has one landing page: its own, or that of the wrapper closest to it.
    const hasOwn = childOf(own, 'ClickThrough') !== undefined;
    return withChildren(own, budget.take(container.children.filter(({ name }) => name !== 'ClickThrough' || !hasOwn)));
  });
}

function mergeCreatives(own: XmlElement, wrapped: XmlElement | undefined, budget: AdditionBudget): XmlElement {
  const parts = wrapped?.children.flatMap(({ children }) => children) ?? [];
  const companions = parts.filter(({ name }) => name === 'CompanionAds');
  const merged = parts.reduce((creatives, part) => mergePart(creatives, part, budget), own);
  const extra = companions.map((part) => ({ name: 'Creative', attributes: {}, text: '', children: [part] }));
  return withChildren(merged, budget.take(extra));
}

/** Adds the tracking of a wrapper's linear or nonlinear part to each such part of the ad (VAST 4.3, 3.19). */
function mergePart(creatives: XmlElement, part: XmlElement, budget: AdditionBudget): XmlElement {
  if (budget.isFull || (part.name !== 'Linear' && part.name !== 'NonLinearAds')) return creatives;
  const containers = ['TrackingEvents', 'VideoClicks', 'Icons'].map((name) => childOf(part, name));
  const clicks = childrenOf(part, 'NonLinear').flatMap((form) => childrenOf(form, 'NonLinearClickTracking'));
  if (clicks.length === 0 && containers.every((container) => !container)) return creatives;
  const merge = (into: XmlElement): XmlElement => {
    const all = containers.reduce<XmlElement>((merged, container) => mergeContainer(merged, container, budget), into);
    return {
      ...all,
      children: all.children.map((one) => (one.name === 'NonLinear' ? withChildren(one, budget.take(clicks)) : one)),
    };
  };
  return {
    ...creatives,
    children: creatives.children.map((creative) => mapChild(creative, part.name, merge)),
  };
}

const withChildren = (element: XmlElement, added: readonly XmlElement[]): XmlElement => ({
  ...element,
  children: [...element.children, ...added],
});

const childrenOf = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter((one) => one.name === name);

const childOf = (element: XmlElement, name: string): XmlElement | undefined =>
  element.children.find((one) => one.name === name);

function mapChild(element: XmlElement, name: string, change: (child: XmlElement) => XmlElement): XmlElement {
  const at = element.children.findIndex((one) => one.name === name);
  return at < 0
    ? element
    : { ...element, children: element.children.with(at, change(element.children[at] as XmlElement)) };
}
