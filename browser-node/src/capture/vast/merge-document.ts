import { writeXml, type XmlElement } from '@adsweep/shared/vast/xml.ts';
import type { AdAt, Resolution, ResolvedAd, Rung } from './resolution.ts';

/** What of a wrapper goes into the inline ad that it led to; the rest is its own. */
const MERGED = ['Impression', 'Error'];

/**
 * The inline document of a tag as XML, each ad with its wrappers' impressions, errors, tracking, click tracking, viewable impressions,
 * verifications and extensions merged in (spec 4.3). Where no ad came of the tag, its last document as it is; null where there is none.
 */
export function mergeDocument({ rungs, ads }: Pick<Resolution, 'rungs' | 'ads'>): string | null {
  const base = rungs[ads[0]?.rung ?? rungs.findLastIndex(({ root }) => root !== null)]?.root;
  if (!base) return null;
  const root = ads.length > 0 ? { ...base, text: '', children: ads.flatMap((ad) => mergedAd(rungs, ad)) } : base;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeXml(root)}\n`;
}

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
  const merged = containers.reduce((into, name) => mergeContainer(into, childOf(wrapper, name)), {
    ...inline,
    children: [...inline.children, ...added],
  });
  return mapChild(merged, 'Creatives', (creatives) => mergeCreatives(creatives, childOf(wrapper, 'Creatives')));
}

/** A container's elements go into the one of the same name, or it goes in whole. */
function mergeContainer(into: XmlElement, container: XmlElement | undefined): XmlElement {
  if (!container) return into;
  if (!childOf(into, container.name)) return { ...into, children: [...into.children, container] };
  return mapChild(into, container.name, (own) => ({ ...own, children: [...own.children, ...container.children] }));
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
  const merge = (into: XmlElement): XmlElement =>
    containers.reduce<XmlElement>((all, container) => mergeContainer(all, container), into);
  return {
    ...creatives,
    children: creatives.children.map((creative) => mapChild(creative, part.name, merge)),
  };
}

const childOf = (element: XmlElement, name: string): XmlElement | undefined =>
  element.children.find((one) => one.name === name);

function mapChild(element: XmlElement, name: string, change: (child: XmlElement) => XmlElement): XmlElement {
  const at = element.children.findIndex((one) => one.name === name);
  return at < 0
    ? element
    : { ...element, children: element.children.with(at, change(element.children[at] as XmlElement)) };
}
