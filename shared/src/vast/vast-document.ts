/** A URL to request at an event; `offset`: when, as the document declares it (`progress`), null = not declared. */
export type VastTracker = { event: string; url: string; offset: string | null };

/** A media file; sizes in pixels, `bitrate` in kbit/s, null = not declared (VAST 4.3, 3.9.1). */
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

/** A resource of an icon, a nonlinear ad or a companion, which can have several forms of it (VAST 4.3, 3.15). */
export type VastResource = { form: 'static' | 'iframe' | 'html'; value: string; creativeType: string };

/** An icon over a video; sizes in pixels, positions, offset and duration as they are written (VAST 4.3, 3.11.1). */
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

/** A linear creative of an ad. In a wrapper it has only trackers (VAST 4.3, 3.8). */
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

/** A nonlinear creative over the content or a companion beside it; sizes in pixels (VAST 4.3, 3.12 and 3.13). */
export type VastDisplay = {
  width: number | null;
  height: number | null;
  apiFramework: string;
  adParameters: string;
  resources: VastResource[];
  clickThrough: string;
  trackers: VastTracker[];
};

/** Companions that belong together, and how many of them the ad requires, null = not declared (VAST 4.3, 3.13). */
export type VastCompanionAds = { required: 'all' | 'any' | 'none' | null; companions: VastDisplay[] };

/** A verification script (VAST 4.3, 3.17). */
export type VastVerification = {
  vendor: string;
  resources: { url: string; apiFramework: string }[];
  trackers: VastTracker[];
};

/** The document that a wrapper points to, and its limits; null = not declared (VAST 4.3, 3.19). */
export type VastWrapper = {
  uri: string;
  followAdditionalWrappers: boolean | null;
  allowMultipleAds: boolean | null;
  fallbackOnNoAd: boolean | null;
};

/**
 * One ad: inline, or a wrapper that points to one. `sequence` is its position in a pod, null = it is stand-alone (VAST
 * 4.3, 3.3).
 */
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
 * A VAST document; `version` as it is written, `1.x` for a VideoAdServingTemplate. `errors`: the URLs to request where
 * it has no ad; `adsLeftOut`: how many more ads it has than are read.
 */
export type VastDocument = { version: string; errors: string[]; ads: VastAd[]; adsLeftOut: number };
