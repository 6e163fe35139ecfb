import { writeXml, type XmlElement } from '@adsweep/shared/vast/xml.ts';
import type { AdAt, Resolution, ResolvedAd, Rung } from './resolution.ts';

/** What of a wrapper goes into the inline ad that it led to; the rest is its own. */
const MERGED = ['Impression', 'Error'];
const BEFORE_ERRORS = ['AdSystem', 'AdTitle'];

/**
 * The inline document of a tag as XML, each ad with its wrappers' impressions, errors, tracking, click tracking, viewable impressions,
 * verifications and extensions merged in (spec 4.3). Where no ad came of the tag, its last document as it is; null where there is none.
 */
export function mergeDocument({ rungs, ads }: Pick<Resolution, 'rungs' | 'ads'>): string | null {
  const base = rungs[ads[0]?.rung ?? rungs.findLastIndex(({ root }) => root !== null)]?.root;
  if (!base) return null;
  const merged = ads.flatMap((ad) => mergedAd(rungs, ad));
  const root = ads.length > 0 ? { ...base, text: '', children: merged.length > 1 ? merged.map(inPod) : merged } : base;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeXml(root)}\n`;
}

/** Several ads are a pod, also where each came of a wrapper that has its place in it (VAST 4.3, 3.3.1). */
const inPod = (ad: XmlElement, at: number): XmlElement => ({
  ...ad,
  attributes: { ...ad.attributes, sequence: String(at + 1) },
});

function mergedAd(rungs: readonly Rung[], resolved: ResolvedAd): XmlElement[] {
  const own = elementOf(rungs, resolved);
  const inline = own?.children.find(({ name }) => name === 'InLine');
  if (!own || !inline) return own ? [own] : [];
  const wrappers = resolved.wrappers.toReversed().flatMap((at) => {
    const wrapper = elementOf(rungs, at)?.children.find(({ name }) => name === 'Wrapper');
    return wrapper ? [wrapper] : [];
  });
  return [{ ...own, children: [wrappers.reduce(mergeWrapper, inline)] }];
}

/** The element of an ad: documents and elements list their ads in the same order. */
function elementOf(rungs: readonly Rung[], { rung, ad }: AdAt): XmlElement | undefined {
  const { root, document } = rungs[rung] as Rung;
  const elements = root?.children.filter(({ name, children }) => name === 'Ad' && children.some(isBody)) ?? [];
  return elements[document?.ads.indexOf(ad) ?? -1];
}

const isBody = ({ name }: XmlElement): boolean => name === 'InLine' || name === 'Wrapper';

function mergeWrapper(inline: XmlElement, wrapper: XmlElement): XmlElement {
  const added = wrapper.children.filter(({ name }) => MERGED.includes(name));
  const containers = ['ViewableImpression', 'AdVerifications', 'Extensions'];
  const merged = containers.reduce(
    (into, name) => mergeContainer(into, childOf(wrapper, name)),
    added.reduce(addBesideOthers, inline),
  );
  return mapChild(merged, 'Creatives', (creatives) => mergeCreatives(creatives, childOf(wrapper, 'Creatives')));
}

/** Behind the last of the same name: the standard has an order (VAST 4.3, 3.4). Without one, behind what comes before it there. */
function addBesideOthers(into: XmlElement, added: XmlElement): XmlElement {
  const isBefore = ({ name }: XmlElement) => name === added.name || BEFORE_ERRORS.includes(name);
  return { ...into, children: into.children.toSpliced(into.children.findLastIndex(isBefore) + 1, 0, added) };
}

/** A container's elements go into the one of the same name, or it goes in whole. */
function mergeContainer(into: XmlElement, container: XmlElement | undefined): XmlElement {
  if (!container) return into;
  if (!childOf(into, container.name)) return { ...into, children: [...into.children, container] };
  return mapChild(into, container.name, (own) => {
    // There is one page to lead to: the ad's own, or that of the wrapper next to it.
    const added = container.children.filter(({ name }) => name !== 'ClickThrough' || !childOf(own, name));
    return withChildren(own, added);
  });
}

function mergeCreatives(own: XmlElement, wrapped: XmlElement | undefined): XmlElement {
  const parts = wrapped?.children.flatMap(({ children }) => children) ?? [];
  const companions = parts.filter(({ name }) => name === 'CompanionAds');
  const merged = parts.reduce((creatives, part) => mergePart(creatives, part), own);
  const extra = companions.map((part) => ({ name: 'Creative', attributes: {}, text: '', children: [part] }));
  return { ...merged, children: [...merged.children, ...extra] };
}

/** Tracking of a wrapper's linear or nonlinear part goes into each such part of the ad (VAST 4.3, 3.19). */
function mergePart(creatives: XmlElement, part: XmlElement): XmlElement {
  if (part.name !== 'Linear' && part.name !== 'NonLinearAds') return creatives;
  const containers = ['TrackingEvents', 'VideoClicks', 'Icons'].map((name) => childOf(part, name));
  const clicks = childrenOf(part, 'NonLinear').flatMap((form) => childrenOf(form, 'NonLinearClickTracking'));
  const merge = (into: XmlElement): XmlElement => {
    const all = containers.reduce<XmlElement>((merged, container) => mergeContainer(merged, container), into);
    return {
      ...all,
      children: all.children.map((one) => (one.name === 'NonLinear' ? withChildren(one, clicks) : one)),
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
