import { writeXml, type XmlElement } from '@adsweep/shared/vast/xml.ts';
import type { AdAt, Resolution, ResolvedAd, Rung } from './resolution.ts';

/** What of a wrapper goes into the inline ad that it led to; the rest is its own. */
const MERGED = ['Impression', 'Error'];
const BEFORE_ERRORS = ['AdSystem', 'AdTitle'];
/** Characters that wrappers add to a document: trackers of one video go into every video of an ad, and a hostile document has thousands. */
const ADDED_MAX = 4_000_000;
/** What each addition costs at the least. */
const ADDITION = 100;

/**
 * The inline document of a tag as XML, each ad with its wrappers' impressions, errors, tracking, click tracking, viewable impressions,
 * verifications and extensions merged in (spec 4.3). Where no ad came of the tag, its last VAST document as it is; null where there
 * is none.
 */
export function mergeDocument({ rungs, ads }: Pick<Resolution, 'rungs' | 'ads'>): string | null {
  const base = rungs[ads[0]?.rung ?? rungs.findLastIndex(({ document }) => document !== null)]?.root;
  if (!base) return null;
  const room = new Room();
  const merged = ads.flatMap((ad) => mergedAd(rungs, ad, room));
  const root = ads.length > 0 ? { ...base, text: '', children: merged.length > 1 ? merged.map(inPod) : merged } : base;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeXml(root)}\n`;
}

/** How much may still be added to a document. What does not fit is left out, and so is all that comes after it. */
class Room {
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

/** Several ads are a pod, also where each came of a wrapper that has its place in it (VAST 4.3, 3.3.1). */
const inPod = (ad: XmlElement, at: number): XmlElement => ({
  ...ad,
  attributes: { ...ad.attributes, sequence: String(at + 1) },
});

function mergedAd(rungs: readonly Rung[], resolved: ResolvedAd, room: Room): XmlElement[] {
  const own = elementOf(rungs, resolved);
  const inline = own?.children.find(({ name }) => name === 'InLine');
  if (!own || !inline) return own ? [own] : [];
  const wrappers = resolved.wrappers.toReversed().flatMap((at) => {
    const wrapper = elementOf(rungs, at)?.children.find(({ name }) => name === 'Wrapper');
    return wrapper ? [wrapper] : [];
  });
  const merge = (into: XmlElement, wrapper: XmlElement) => mergeWrapper(into, wrapper, room);
  return [{ ...own, children: [wrappers.reduce(merge, inline)] }];
}

/** The element of an ad: documents and elements list their ads in the same order. */
function elementOf(rungs: readonly Rung[], { rung, ad }: AdAt): XmlElement | undefined {
  const { root, document } = rungs[rung] as Rung;
  const elements = root?.children.filter(({ name, children }) => name === 'Ad' && children.some(isBody)) ?? [];
  return elements[document?.ads.indexOf(ad) ?? -1];
}

const isBody = ({ name }: XmlElement): boolean => name === 'InLine' || name === 'Wrapper';

function mergeWrapper(inline: XmlElement, wrapper: XmlElement, room: Room): XmlElement {
  const added = MERGED.map((name) => childrenOf(wrapper, name));
  const containers = ['ViewableImpression', 'AdVerifications', 'Extensions'];
  const merged = containers.reduce(
    (into, name) => mergeContainer(into, childOf(wrapper, name), room),
    added.reduce((into, elements) => addBesideOthers(into, elements, room), inline),
  );
  const creatives = childOf(wrapper, 'Creatives');
  return mapChild(merged, 'Creatives', (own) => mergeCreatives(own, creatives, room));
}

/** Elements of one name behind the last of it: the standard has an order (VAST 4.3, 3.4). Without one, behind what comes before it there. */
function addBesideOthers(into: XmlElement, elements: readonly XmlElement[], room: Room): XmlElement {
  const [first] = elements;
  if (!first) return into;
  const at = into.children.findLastIndex(({ name }) => name === first.name || BEFORE_ERRORS.includes(name)) + 1;
  return { ...into, children: [...into.children.slice(0, at), ...room.take(elements), ...into.children.slice(at)] };
}

/** A container's elements go into the one of the same name, or it goes in whole. */
function mergeContainer(into: XmlElement, container: XmlElement | undefined, room: Room): XmlElement {
  if (!container) return into;
  if (!childOf(into, container.name)) return withChildren(into, room.take([container]));
  return mapChild(into, container.name, (own) => {
    // There is one page to lead to: the ad's own, or that of the wrapper next to it.
    const hasOwn = childOf(own, 'ClickThrough') !== undefined;
    return withChildren(own, room.take(container.children.filter(({ name }) => name !== 'ClickThrough' || !hasOwn)));
  });
}

function mergeCreatives(own: XmlElement, wrapped: XmlElement | undefined, room: Room): XmlElement {
  const parts = wrapped?.children.flatMap(({ children }) => children) ?? [];
  const companions = parts.filter(({ name }) => name === 'CompanionAds');
  const merged = parts.reduce((creatives, part) => mergePart(creatives, part, room), own);
  const extra = companions.map((part) => ({ name: 'Creative', attributes: {}, text: '', children: [part] }));
  return withChildren(merged, room.take(extra));
}

/** Tracking of a wrapper's linear or nonlinear part goes into each such part of the ad (VAST 4.3, 3.19). */
function mergePart(creatives: XmlElement, part: XmlElement, room: Room): XmlElement {
  if (room.isFull || (part.name !== 'Linear' && part.name !== 'NonLinearAds')) return creatives;
  const containers = ['TrackingEvents', 'VideoClicks', 'Icons'].map((name) => childOf(part, name));
  const clicks = childrenOf(part, 'NonLinear').flatMap((form) => childrenOf(form, 'NonLinearClickTracking'));
  if (clicks.length === 0 && containers.every((container) => !container)) return creatives;
  const merge = (into: XmlElement): XmlElement => {
    const all = containers.reduce<XmlElement>((merged, container) => mergeContainer(merged, container, room), into);
    return {
      ...all,
      children: all.children.map((one) => (one.name === 'NonLinear' ? withChildren(one, room.take(clicks)) : one)),
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
