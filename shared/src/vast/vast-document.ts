/** What is told to a server when something happens; `offset` where the document says when (`progress`), as it is written. */
export type VastTracker = { event: string; url: string; offset: string | null };

/** A file that may be played; sizes in pixels, `bitrate` in kbit/s, null = not said (VAST 4.3, 3.9.1). */
export type VastMediaFile = {
  url: string;
  type: string;
  delivery: string;
  width: number | null;
  height: number | null;
  bitrate: number | null;
  codec: string;
  apiFramework: string;
};

/** What an icon, a nonlinear ad or a companion shows: one or more forms of the same thing (VAST 4.3, 3.15). */
export type VastResource = { form: 'static' | 'iframe' | 'html'; value: string; creativeType: string };

/** A mark over a video; sizes in pixels, positions, offset and duration as they are written (VAST 4.3, 3.11.1). */
export type VastIcon = {
  program: string;
  width: number | null;
  height: number | null;
  xPosition: string;
  yPosition: string;
  resources: VastResource[];
  offset: string | null;
  duration: string | null;
  clickThrough: string;
  trackers: VastTracker[];
};

/** A video of an ad. In a wrapper, only what is to be told (VAST 4.3, 3.8). */
export type VastLinear = {
  duration: string | null;
  skipOffset: string | null;
  adParameters: string;
  mediaFiles: VastMediaFile[];
  interactiveFiles: { url: string; type: string; apiFramework: string }[];
  mezzanines: number;
  closedCaptionFiles: number;
  clickThrough: string;
  trackers: VastTracker[];
  icons: VastIcon[];
};

/** A picture over the content, or beside it, with its own click; sizes in pixels (VAST 4.3, 3.12 and 3.13). */
export type VastDisplay = {
  width: number | null;
  height: number | null;
  apiFramework: string;
  adParameters: string;
  resources: VastResource[];
  clickThrough: string;
  trackers: VastTracker[];
};

/** Companions that belong together, and how many of them the ad is not to be shown without, null = not said (VAST 4.3, 3.13). */
export type VastCompanionAds = { required: 'all' | 'any' | 'none' | null; companions: VastDisplay[] };

/** Code that verifies what was shown (VAST 4.3, 3.17). */
export type VastVerification = {
  vendor: string;
  resources: { url: string; apiFramework: string }[];
  trackers: VastTracker[];
};

/** Where a wrapper leads, and what may come back; null = not said (VAST 4.3, 3.19). */
export type VastWrapper = {
  uri: string;
  followAdditionalWrappers: boolean | null;
  allowMultipleAds: boolean | null;
  fallbackOnNoAd: boolean | null;
};

/** One ad: inline, or a wrapper that leads to one. `sequence` is its place in a pod, null = it stands alone (VAST 4.3, 3.3). */
export type VastAd = {
  id: string;
  sequence: number | null;
  wrapper: VastWrapper | null;
  adSystem: string;
  adTitle: string;
  advertiser: string;
  categories: string[];
  adServingId: string;
  /** `registry value` of each id of its creatives (VAST 4.3, 3.7.1). */
  universalAdIds: string[];
  /** Impressions, viewable impressions and errors, by these events. */
  trackers: VastTracker[];
  linears: VastLinear[];
  nonLinears: VastDisplay[];
  companionAds: VastCompanionAds[];
  verifications: VastVerification[];
  extensions: number;
};

/**
 * A VAST document; `version` as it is written, `1.x` for a VideoAdServingTemplate. `errors`: what is told where it has no ad; `adsLeftOut`:
 * how many ads it has beyond those that are read.
 */
export type VastDocument = { version: string; errors: string[]; ads: VastAd[]; adsLeftOut: number };
