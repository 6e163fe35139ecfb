import type { XmlElement } from './xml.ts';

/**
 * A document in the elements of VAST 2.0: of VAST 1.x, whose ads have their video, overlays and companions, trackers
 * and clicks directly in them, each with any number of URLs. Any other document as it is. Pure.
 */
export function asVast2(root: XmlElement): XmlElement {
  if (root.name !== 'VideoAdServingTemplate') return root;
  const children = root.children.map((ad) =>
    ad.name === 'Ad' ? { ...ad, children: ad.children.map(convertBody) } : ad,
  );
  return { name: 'VAST', attributes: { version: '2.0' }, text: '', children };
}

/** The parts of an ad that VAST 2.0 has in creatives. */
const PARTS = new Set(['Video', 'TrackingEvents', 'VideoClicks', 'NonLinearAds', 'CompanionAds']);

function convertBody(body: XmlElement): XmlElement {
  const [video, events, clicks, overlays, companions] = [...PARTS].map((name) => child(body, name));
  const tracking = events ? [eachUrl(events)] : [];
  const videoParts = [...(video?.children ?? []), ...(clicks ? [clicks] : [])].map(eachUrl);
  // The events of an ad are those of its video; of an ad without one, of its overlays; of a wrapper, of whichever the
  // ad shows.
  const isWrapper = body.name === 'Wrapper';
  const linear = video || isWrapper ? [...videoParts, ...tracking] : [];
  const nonLinear = [...(overlays?.children.map(convertDisplay) ?? []), ...(video ? [] : tracking)];
  const creatives = [
    ...(linear.length > 0 ? [element('Linear', linear)] : []),
    ...(overlays || isWrapper ? [element('NonLinearAds', nonLinear)] : []),
    ...(companions ? [element('CompanionAds', companions.children.map(convertDisplay))] : []),
  ].map((part) => element('Creative', [part]));
  const others = body.children.filter(({ name }) => !PARTS.has(name)).flatMap(perUrl);
  return { ...body, children: [...others.map(renamed), element('Creatives', creatives)] };
}

const renamed = (one: XmlElement): XmlElement => (one.name === 'VASTAdTagURL' ? { ...one, name: 'VASTAdTagURI' } : one);

/** A companion or an overlay, whose resource is a URL or code of the type that an attribute names. */
function convertDisplay(display: XmlElement): XmlElement {
  const [url, code] = [child(display, 'URL'), child(display, 'Code')];
  const others = display.children.filter((one) => one !== url && one !== code).flatMap(perUrl);
  const resource = resourceOf(display.attributes, url?.text.trim() ?? '', code?.text ?? '');
  return { ...display, children: [...(resource ? [resource] : []), ...others] };
}

function resourceOf(attributes: XmlElement['attributes'], url: string, code: string): XmlElement | null {
  const { resourceType = '', creativeType = '' } = attributes;
  if (code.trim() !== '') return { ...element('HTMLResource'), text: code };
  if (url === '') return null;
  switch (resourceType.toLowerCase()) {
    case 'iframe':
      return { ...element('IFrameResource'), text: url };
    case 'script':
      return { ...element('HTMLResource'), text: `<script src="${url.replaceAll('"', '%22')}"></script>` };
    default:
      return { ...element('StaticResource'), attributes: { creativeType }, text: url };
  }
}

/** A container with one element for each URL of its elements. */
const eachUrl = (container: XmlElement): XmlElement => ({
  ...container,
  children: container.children.flatMap(perUrl),
});

/** An element once for each URL in it, or as it is. */
function perUrl(one: XmlElement): XmlElement[] {
  const urls = one.children.filter(({ name }) => name === 'URL');
  return urls.length === 0 ? [one] : urls.map(({ text }) => ({ ...one, text, children: [] }));
}

const element = (name: string, children: XmlElement[] = []): XmlElement => ({
  name,
  attributes: {},
  text: '',
  children,
});

const child = ({ children }: XmlElement, name: string): XmlElement | undefined =>
  children.find((one) => one.name === name);
