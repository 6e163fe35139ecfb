import { parseClock, parseOffset } from '@adsweep/shared/vast/clock.ts';

/**
 * A rule for the value of an attribute or element (`of`): what it `must` be, in words, and the section of VAST 4.3 that
 * requires it. It applies to documents of version `since` and later, of versions before `before`, and not inside of an
 * element `notIn`; `required`: the first version that requires the attribute.
 */
export type ValueRule = {
  of: string;
  section: string;
  since?: number;
  before?: number;
  notIn?: string;
  required?: number;
  must: string;
  holds: (value: string) => boolean;
};

const oneOf = (...values: string[]) => ({
  must: `one of ${values.join(', ')}`,
  holds: (value: string) => values.some((one) => one.toLowerCase() === value.toLowerCase()),
});
const BOOLEAN = { must: 'true or false', holds: (value: string) => /^(true|false|1|0)$/i.test(value) };
const PIXELS = { must: 'a number of pixels', holds: (value: string) => /^\d{1,5}$/.test(value) };
const TIME = { must: 'a time as HH:MM:SS or HH:MM:SS.mmm', holds: (value: string) => parseClock(value) !== null };
const OFFSET = { must: 'a time or a percentage', holds: (value: string) => parseOffset(value, 1) !== null };
const MIME = { must: 'a media type', holds: (value: string) => /^[\w.+-]+\/[\w.+-]+\s*(;.*)?$/.test(value) };
const NUMBER = { must: 'a number', holds: (value: string) => /^\d+(\.\d+)?$/.test(value) };
const POSITIVE = { must: 'a positive whole number', holds: (value: string) => /^[1-9]\d{0,8}$/.test(value) };

/** The events of VAST 2.0 to 4.3: 3.14.1, and those of earlier versions. */
const EVENTS =
  'mute unmute pause resume rewind skip playerExpand playerCollapse notUsed loaded start firstQuartile midpoint thirdQuartile complete ' +
  'otherAdInteraction progress closeLinear creativeView acceptInvitation adExpand adCollapse minimize close overlayViewDuration ' +
  'interactiveStart fullscreen exitFullscreen expand collapse acceptInvitationLinear timeSpentViewing verificationNotExecuted';

/** Attributes by their element (`MediaFile@type`), and texts of elements (`Duration`). */
export const VALUE_RULES: readonly ValueRule[] = [
  {
    of: 'VAST@version',
    section: '3.2',
    required: 1,
    must: 'a version from 1.0 to 4.3',
    holds: (value) => /^[1-4]\.\d(\.\d)?$/.test(value),
  },
  { of: 'Ad@sequence', section: '3.3.2', since: 3, ...POSITIVE },
  { of: 'Ad@conditionalAd', section: '3.3.2', since: 4, ...BOOLEAN },
  { of: 'Ad@adType', section: '3.3.2', since: 4.1, ...oneOf('video', 'audio', 'hybrid') },
  { of: 'Pricing@model', section: '3.4.8', required: 3, ...oneOf('CPM', 'CPC', 'CPE', 'CPV') },
  {
    of: 'Pricing@currency',
    section: '3.4.8',
    required: 3,
    must: 'an ISO 4217 code',
    holds: (value) => /^[a-z]{3}$/i.test(value),
  },
  { of: 'Creative@sequence', section: '3.7', must: 'a whole number', holds: (value) => /^\d{1,9}$/.test(value) },
  { of: 'UniversalAdId@idRegistry', section: '3.7.1', required: 4, must: 'a registry', holds: (value) => value !== '' },
  { of: 'Linear@skipoffset', section: '3.8', since: 3, ...OFFSET },
  { of: 'Duration', section: '3.8.1', ...TIME },
  { of: 'MediaFile@delivery', section: '3.9.1', required: 2, ...oneOf('progressive', 'streaming') },
  { of: 'MediaFile@type', section: '3.9.1', required: 2, ...MIME },
  { of: 'MediaFile@width', section: '3.9.1', required: 2, ...PIXELS },
  { of: 'MediaFile@height', section: '3.9.1', required: 2, ...PIXELS },
  { of: 'MediaFile@bitrate', section: '3.9.1', ...NUMBER },
  { of: 'MediaFile@minBitrate', section: '3.9.1', since: 3, ...NUMBER },
  { of: 'MediaFile@maxBitrate', section: '3.9.1', since: 3, ...NUMBER },
  { of: 'MediaFile@scalable', section: '3.9.1', ...BOOLEAN },
  { of: 'MediaFile@maintainAspectRatio', section: '3.9.1', ...BOOLEAN },
  { of: 'Mezzanine@delivery', section: '3.9.2', required: 4.1, ...oneOf('progressive', 'streaming') },
  { of: 'Mezzanine@type', section: '3.9.2', required: 4.1, ...MIME },
  { of: 'Mezzanine@width', section: '3.9.2', required: 4.1, ...PIXELS },
  { of: 'Mezzanine@height', section: '3.9.2', required: 4.1, ...PIXELS },
  { of: 'InteractiveCreativeFile@variableDuration', section: '3.9.3', since: 4.1, ...BOOLEAN },
  { of: 'Icon@duration', section: '3.11.1', since: 3, ...TIME },
  { of: 'Icon@offset', section: '3.11.1', since: 3, ...TIME },
  {
    of: 'Icon@xPosition',
    section: '3.11.1',
    since: 3,
    must: 'left, right or a number',
    holds: (value) => /^(left|right|\d{1,5})$/i.test(value),
  },
  {
    of: 'Icon@yPosition',
    section: '3.11.1',
    since: 3,
    must: 'top, bottom or a number',
    holds: (value) => /^(top|bottom|\d{1,5})$/i.test(value),
  },
  // In a wrapper it has trackers alone (vast_4.2.xsd, `NonLinearAd_Base_type`).
  { of: 'NonLinear@width', section: '3.12.1', required: 4.1, notIn: 'Wrapper', ...PIXELS },
  { of: 'NonLinear@height', section: '3.12.1', required: 4.1, notIn: 'Wrapper', ...PIXELS },
  { of: 'NonLinear@minSuggestedDuration', section: '3.12.1', ...TIME },
  { of: 'CompanionAds@required', section: '3.13', since: 3, ...oneOf('all', 'any', 'none') },
  { of: 'Companion@width', section: '3.13.1', required: 2, ...PIXELS },
  { of: 'Companion@height', section: '3.13.1', required: 2, ...PIXELS },
  { of: 'Companion@renderingMode', section: '3.13.1', since: 4.1, ...oneOf('default', 'end-card', 'concurrent') },
  {
    of: 'Tracking@event',
    section: '3.14.1',
    required: 2,
    since: 2,
    ...oneOf(...EVENTS.split(' ')),
    must: 'an event of the standard',
  },
  {
    of: 'Tracking@event',
    section: '3.14.1',
    before: 2,
    ...oneOf(...EVENTS.split(' '), 'replay', 'stop'),
    must: 'an event of the standard',
  },
  { of: 'Tracking@offset', section: '3.14.3', since: 3, ...OFFSET },
  { of: 'StaticResource@creativeType', section: '3.15.1', required: 2, notIn: 'IconClickFallbackImage', ...MIME },
  { of: 'Wrapper@followAdditionalWrappers', section: '3.19', since: 3, ...BOOLEAN },
  { of: 'Wrapper@allowMultipleAds', section: '3.19', since: 3, ...BOOLEAN },
  { of: 'Wrapper@fallbackOnNoAd', section: '3.19', since: 3, ...BOOLEAN },
];

/** An element that another must contain; `since`: the first version that requires it. */
export type ElementRule = { in: string; element: string; section: string; since: number };

export const ELEMENT_RULES: readonly ElementRule[] = [
  { in: 'InLine', element: 'AdSystem', section: '3.4.1', since: 2 },
  { in: 'InLine', element: 'AdTitle', section: '3.4.2', since: 2 },
  { in: 'InLine', element: 'AdServingId', section: '3.4.3', since: 4.1 },
  { in: 'InLine', element: 'Impression', section: '3.4.4', since: 2 },
  { in: 'InLine', element: 'Creatives', section: '3.6', since: 2 },
  // In a wrapper, the list may be empty (vast_2.0.1.xsd, `minOccurs`).
  { in: 'InLine/Creatives', element: 'Creative', section: '3.7', since: 2 },
  { in: 'InLine/Creative', element: 'UniversalAdId', section: '3.7.1', since: 4 },
  { in: 'InLine/Linear', element: 'Duration', section: '3.8.1', since: 2 },
  { in: 'InLine/Linear', element: 'MediaFiles', section: '3.9', since: 2 },
  { in: 'Wrapper', element: 'Impression', section: '3.4.4', since: 2 },
  { in: 'Wrapper', element: 'VASTAdTagURI', section: '3.19.1', since: 2 },
];
