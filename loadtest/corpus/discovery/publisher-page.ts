import type { AdKind } from '@adsweep/shared/capture/ad-block.ts';

/** An ad that a page shows. */
export type ExpectedAd = {
  kind: AdKind;
  /** A CSS selector of what shows the ad in the publisher's document, shadow roots included; '': a pop. */
  at: string;
  /** Width and height of that element in CSS pixels; absent: a pop. */
  size?: [width: number, height: number];
  /** The name of the ad network, and the hosts of its ad server that took part; [] and '': none is to be told. */
  network: string;
  hosts: string[];
  /** The registrable domain that a click leads to; of a pop, of the window. */
  landing: string;
};

/**
 * A page of a publisher at `https://www.<name>.example/`. `files`: further documents by URL, scripts where the URL ends in `.js`. `units`: the
 * markup of creatives by the ad unit that ad servers are asked for; absent: the ad server has no ad. `ads`: in the order of the page, pops first.
 */
export type PublisherPage = {
  subject: string;
  name: string;
  html: string;
  files?: Record<string, string>;
  units?: Record<string, string>;
  emulator?: string;
  /** The most ads that are scanned; absent: the default. */
  maxAds?: number;
  ads: ExpectedAd[];
};

export const urlOf = ({ name }: Pick<PublisherPage, 'name'>): string => `https://www.${name}.example/`;

/** A network with the hosts of its ad servers that pages of this corpus use. */
type Network = { network: string; hosts: string[] };

export const NETWORKS = {
  gpt: { network: 'Google/Doubleclick Ads', hosts: ['securepubads.g.doubleclick.net'] },
  adsense: { network: 'Google/Doubleclick Ads', hosts: ['googleads.g.doubleclick.net'] },
  ima: { network: 'Google/Doubleclick Ads', hosts: ['pubads.g.doubleclick.net'] },
  amazon: { network: 'Amazon Ads', hosts: ['aax.amazon-adsystem.com'] },
  taboola: { network: 'Taboola', hosts: ['cdn.taboola.com', 'trc.taboola.com'] },
  outbrain: { network: 'Outbrain', hosts: ['widgets.outbrain.com', 'odb.outbrain.com'] },
  mgid: { network: 'MGID', hosts: ['jsc.mgid.com', 'servicer.mgid.com'] },
  appnexus: { network: 'AppNexus', hosts: ['ib.adnxs.com'] },
  criteo: { network: 'Criteo', hosts: ['ads.eu.criteo.com'] },
  rubicon: { network: 'Rubicon Project', hosts: ['fastlane.rubiconproject.com'] },
  pubmatic: { network: 'Pubmatic', hosts: ['ads.pubmatic.com'] },
  openx: { network: 'OpenX', hosts: ['u.openx.net'] },
  teads: { network: 'Teads', hosts: ['a.teads.tv'] },
  exoclick: { network: 'ExoClick', hosts: ['syndication.exoclick.com'] },
  popads: { network: 'Popads', hosts: [] },
  unknownServer: { network: '', hosts: ['ads.small-server.example'] },
  none: { network: '', hosts: [] },
} satisfies Record<string, Network>;
export type NetworkKey = keyof typeof NETWORKS;

/** An expected banner or video at a selector. */
export const adAt = (
  at: string,
  size: [number, number],
  by: NetworkKey,
  landing: string,
  kind: AdKind = 'banner',
): ExpectedAd => ({ kind, at, size, ...NETWORKS[by], landing });

/** An expected pop. */
export const popOf = (by: NetworkKey, landing: string): ExpectedAd => ({
  kind: 'pop',
  at: '',
  ...NETWORKS[by],
  hosts: [],
  landing,
});
