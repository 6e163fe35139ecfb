import { portSetting } from '@adsweep/shared/service/settings.ts';
import { type Static, Type } from 'typebox';

/**
 * What `npm start` reads; the README shows the same table, and a test holds the two together. Beyond that,
 * each process gets the settings that it describes itself.
 */
export const FarmConfigSchema = Type.Object({
  ADSWEEP_HTTP_PORT: portSetting(8080, 'Port of the REST API, reports and documents. 0: any free port.'),
  ADSWEEP_NODE_API_PORT: portSetting(8081, 'Port that browser nodes talk to. 0: any free port.'),
  ADSWEEP_PROXY_PORT: portSetting(
    8082,
    'Port of the proxy-router; its gateway takes the next one. 0: any free ports.',
    65_534,
  ),
  ADSWEEP_DATA_DIR: Type.String({ default: './.adsweep', description: 'Folder of everything that is kept.' }),
  ADSWEEP_API_KEY: Type.String({
    default: '',
    pattern: '^[\\x21-\\x7e]*$',
    mustBe: 'letters, digits and signs, without spaces',
    secret: true,
    description: 'Key of the first organization: long and random. Empty: one is made once and kept in the data folder.',
  }),
  ADSWEEP_EXITS_FILE: Type.String({
    default: '',
    description: 'JSON file of exits and host mappings, see below. Empty: exits of this machine.',
  }),
  ADSWEEP_NODES: Type.Integer({ minimum: 0, maximum: 64, default: 1, description: 'Browser nodes to run.' }),
  ADSWEEP_SLOTS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 256,
      defaultInWords: '5 per core, as far as memory allows',
      description: 'Captures at once per node.',
    }),
  ),
  ADSWEEP_DEMO: Type.Integer({
    minimum: 0,
    maximum: 1,
    default: 1,
    description: '1: run the local ad world and scan a page of it. 0: neither.',
  }),
  ADSWEEP_PUBLIC_URL: Type.String({
    default: '',
    pattern: '^(https?://[^?#]+)?$',
    mustBe: 'an http or https URL without ? and #',
    description: 'Base URL that clients reach us under. Empty: the local one.',
  }),
  MONGODB_URL: Type.String({
    default: '',
    secret: true,
    description: 'A MongoDB deployment. Empty: the embedded store.',
  }),
  REDIS_URL: Type.String({
    default: '',
    secret: true,
    description: 'A Redis server, `redis://...` or `unix:///...`. Empty: a private one is started.',
  }),
});

export type FarmConfig = Static<typeof FarmConfigSchema>;
