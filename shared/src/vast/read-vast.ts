import type {
  VastAd,
  VastCompanionAds,
  VastDisplay,
  VastDocument,
  VastIcon,
  VastLinear,
  VastResource,
  VastTracker,
  VastVerification,
  VastWrapper,
} from './vast-document.ts';
import { asVast2 } from './vast-one.ts';
import { parseXml, type XmlElement } from './xml.ts';

/** The most ads of one document that are read. */
const ADS_MAX = 50;
/** The most characters of a name or id, and the most categories and ids of an ad. */
const WORD_LENGTH_MAX = 4_096;
const WORDS_MAX = 100;

/**
 * Reads VAST 2.0 to 4.3, or the VideoAdServingTemplate before it; null where a text is neither. As lenient as players
 * are. Pure.
 */
export function parseVast(text: string): VastDocument | null {
  const root = parseXml(text);
  return root && readVast(root);
}

/** The same of a root element. */
export function readVast(document: XmlElement): VastDocument | null {
  const root = asVast2(document);
  if (root.name !== 'VAST') return null;
  const ads = all(root, 'Ad');
  return {
    version: root === document ? attribute(root, 'version') : '1.x',
    errors: urlsOf(root, 'Error'),
    ads: ads.slice(0, ADS_MAX).flatMap(readAd),
    adsLeftOut: Math.max(0, ads.length - ADS_MAX),
  };
}

function readAd(element: XmlElement): VastAd[] {
  const wrapped = child(element, 'Wrapper');
  const body = child(element, 'InLine') ?? wrapped;
  if (!body) return [];
  const creatives = all(child(body, 'Creatives'), 'Creative');
  const viewable = child(body, 'ViewableImpression');
  const extensions = all(child(body, 'Extensions'), 'Extension');
  const sequence = Number(attribute(element, 'sequence') || Number.NaN);
  return [
    {
      id: attribute(element, 'id'),
      sequence: Number.isInteger(sequence) ? sequence : null,
      wrapper: body === wrapped ? readWrapper(body) : null,
      adSystem: wordOf(child(body, 'AdSystem')),
      adTitle: wordOf(child(body, 'AdTitle')),
      advertiser: wordOf(child(body, 'Advertiser')),
      categories: all(body, 'Category').slice(0, WORDS_MAX).map(wordOf),
      adServingId: wordOf(child(body, 'AdServingId')),
      universalAdIds: creatives
        .flatMap((one) => all(one, 'UniversalAdId'))
        .slice(0, WORDS_MAX)
        .map(readUniversalAdId),
      trackers: [
        ...pings(body, 'Impression', 'impression'),
        ...pings(viewable, 'Viewable', 'viewable'),
        ...pings(viewable, 'NotViewable', 'notViewable'),
        ...pings(viewable, 'ViewUndetermined', 'viewUndetermined'),
        ...pings(body, 'Error', 'error'),
      ],
      linears: creatives.flatMap((one) => all(one, 'Linear')).map(readLinear),
      nonLinears: creatives.flatMap((one) => all(one, 'NonLinearAds')).flatMap(readNonLinears),
      companionAds: creatives.flatMap((one) => all(one, 'CompanionAds')).map(readCompanionAds),
      // Before VAST 4.1 they are in an extension (OM SDK, "VAST before 4.1").
      verifications: [body, ...extensions]
        .flatMap((one) => all(child(one, 'AdVerifications'), 'Verification'))
        .map(readVerification),
      extensions: extensions.length,
    },
  ];
}

/** VAST 4.0 has the id in an attribute. */
const readUniversalAdId = (element: XmlElement): string =>
  [attribute(element, 'idRegistry') || 'unknown', textOf(element) || attribute(element, 'idValue')]
    .map((word) => word.slice(0, WORD_LENGTH_MAX))
    .join(' ');

function readWrapper(body: XmlElement): VastWrapper {
  // Some documents have the name of VAST 1.x.
  const uri = child(body, 'VASTAdTagURI') ?? child(body, 'VASTAdTagURL');
  return {
    uri: locationOf(uri),
    followAdditionalWrappers: booleanOf(attribute(body, 'followAdditionalWrappers')),
    allowMultipleAds: booleanOf(attribute(body, 'allowMultipleAds')),
    fallbackOnNoAd: booleanOf(attribute(body, 'fallbackOnNoAd')),
  };
}

function readLinear(element: XmlElement): VastLinear {
  const media = child(element, 'MediaFiles');
  const clicks = child(element, 'VideoClicks');
  const duration = child(element, 'Duration');
  return {
    duration: duration ? textOf(duration) : null,
    skipOffset: attribute(element, 'skipoffset') || null,
    adParameters: textOf(child(element, 'AdParameters')),
    mediaFiles: all(media, 'MediaFile').map((file) => ({
      url: locationOf(file),
      type: attribute(file, 'type'),
      delivery: attribute(file, 'delivery'),
      width: numberOf(attribute(file, 'width')),
      height: numberOf(attribute(file, 'height')),
      bitrate: numberOf(attribute(file, 'bitrate')),
      codec: attribute(file, 'codec'),
      apiFramework: attribute(file, 'apiFramework'),
    })),
    interactiveFiles: all(media, 'InteractiveCreativeFile').map((file) => ({
      url: textOf(file),
      type: attribute(file, 'type'),
      apiFramework: attribute(file, 'apiFramework'),
    })),
    mezzanines: all(media, 'Mezzanine').length,
    closedCaptionFiles: all(child(media, 'ClosedCaptionFiles'), 'ClosedCaptionFile').length,
    clickThrough: locationOf(child(clicks, 'ClickThrough')),
    trackers: [
      ...events(element),
      ...pings(clicks, 'ClickTracking', 'clickTracking'),
      ...pings(clicks, 'CustomClick', 'customClick'),
    ],
    icons: all(child(element, 'Icons'), 'Icon').map(readIcon),
  };
}

function readIcon(element: XmlElement): VastIcon {
  const clicks = child(element, 'IconClicks');
  return {
    program: attribute(element, 'program'),
    width: numberOf(attribute(element, 'width')),
    height: numberOf(attribute(element, 'height')),
    xPosition: attribute(element, 'xPosition'),
    yPosition: attribute(element, 'yPosition'),
    resources: resourcesOf(element),
    offset: attribute(element, 'offset') || null,
    duration: attribute(element, 'duration') || null,
    clickThrough: textOf(child(clicks, 'IconClickThrough')),
    trackers: [...pings(element, 'IconViewTracking', 'iconView'), ...pings(clicks, 'IconClickTracking', 'iconClick')],
  };
}

/** TrackingEvents apply to all nonlinear forms: the first one gets them. A wrapper may have events and no form. */
function readNonLinears(element: XmlElement): VastDisplay[] {
  const forms = all(element, 'NonLinear');
  const own = events(element);
  if (forms.length === 0 && own.length > 0)
    return [{ ...readDisplay(element, 'NonLinearClickThrough'), trackers: own }];
  return forms.map((form, at) => ({
    ...readDisplay(form, 'NonLinearClickThrough'),
    trackers: [...(at === 0 ? own : []), ...pings(form, 'NonLinearClickTracking', 'clickTracking')],
  }));
}

const REQUIRED = ['all', 'any', 'none'] as const;

function readCompanionAds(element: XmlElement): VastCompanionAds {
  const required = attribute(element, 'required').toLowerCase();
  return {
    required: REQUIRED.find((one) => one === required) ?? null,
    companions: all(element, 'Companion').map(readCompanion),
  };
}

const readCompanion = (element: XmlElement): VastDisplay => ({
  ...readDisplay(element, 'CompanionClickThrough'),
  trackers: [...events(element), ...pings(element, 'CompanionClickTracking', 'clickTracking')],
});

function readDisplay(element: XmlElement, clickThrough: string): VastDisplay {
  return {
    width: numberOf(attribute(element, 'width')),
    height: numberOf(attribute(element, 'height')),
    apiFramework: attribute(element, 'apiFramework'),
    adParameters: textOf(child(element, 'AdParameters')),
    resources: resourcesOf(element),
    clickThrough: textOf(child(element, clickThrough)),
    trackers: [],
  };
}

function readVerification(element: XmlElement): VastVerification {
  const resources = [...all(element, 'JavaScriptResource'), ...all(element, 'ExecutableResource')];
  return {
    vendor: attribute(element, 'vendor'),
    resources: resources.map((one) => ({ url: textOf(one), apiFramework: attribute(one, 'apiFramework') })),
    trackers: events(element),
  };
}

const resourcesOf = (element: XmlElement): VastResource[] => [
  ...all(element, 'StaticResource').map((one) => ({
    form: 'static' as const,
    value: textOf(one),
    creativeType: attribute(one, 'creativeType'),
  })),
  ...all(element, 'IFrameResource').map((one) => ({ form: 'iframe' as const, value: textOf(one), creativeType: '' })),
  ...all(element, 'HTMLResource').map((one) => ({ form: 'html' as const, value: textOf(one), creativeType: '' })),
];

const events = (element: XmlElement | undefined): VastTracker[] =>
  all(child(element, 'TrackingEvents'), 'Tracking')
    .flatMap((one) => {
      const about = { event: attribute(one, 'event'), offset: attribute(one, 'offset') || null };
      return locationsOf(one).map((url) => ({ ...about, url }));
    })
    .filter(({ url }) => url !== '');

const pings = (element: XmlElement | undefined, name: string, event: string): VastTracker[] =>
  urlsOf(element, name).map((url) => ({ event, url, offset: null }));

const urlsOf = (element: XmlElement | undefined, name: string): string[] =>
  all(element, name)
    .flatMap(locationsOf)
    .filter((url) => url !== '');

const locationOf = (element: XmlElement | undefined): string => (element ? (locationsOf(element)[0] ?? '') : '');

/** The URL in an element; many documents have URLs in elements of their own, as VAST 1.x. */
function locationsOf(element: XmlElement): string[] {
  const urls = all(element, 'URL');
  return (urls.length > 0 ? urls : [element]).map(textOf);
}

const child = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((one) => one.name === name);

const all = (element: XmlElement | undefined, name: string): XmlElement[] =>
  element?.children.filter((one) => one.name === name) ?? [];

const textOf = (element: XmlElement | undefined): string => element?.text.trim() ?? '';

const wordOf = (element: XmlElement | undefined): string => textOf(element).slice(0, WORD_LENGTH_MAX);

/** Finds an attribute in any letter case: `adID` and `AdID` are common. '' = there is none. */
function attribute({ attributes }: XmlElement, name: string): string {
  const found = Object.keys(attributes).find((key) => key.toLowerCase() === name.toLowerCase());
  return found === undefined ? '' : (attributes[found] as string).trim();
}

const numberOf = (text: string): number | null => (/^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) : null);

const booleanOf = (text: string): boolean | null => (text === '' ? null : /^(true|1)$/i.test(text));
