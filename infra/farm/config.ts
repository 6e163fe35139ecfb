import { type Static, Type } from 'typebox';

const Port = (description: string, port: number) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: port, description: `${description}; 0 = any free one` });

/** What `npm start` reads. Everything else is handed to the parts as it stands in the environment. */
export const FarmConfigSchema = Type.Object({
  ADSWEEP_HTTP_PORT: Port('Port of the REST API, reports and documents', 8080),
  ADSWEEP_NODE_API_PORT: Port('Port that browser nodes talk to', 8081),
  ADSWEEP_PROXY_PORT: Port('Port of the proxy-router; its gateway takes the next one', 8082),
  ADSWEEP_DATA_DIR: Type.String({ default: './.adsweep', description: 'Folder of everything that is kept' }),
  ADSWEEP_API_KEY: Type.Optional(
    Type.String({
      minLength: 8,
      pattern: '^[\\x21-\\x7e]+$',
      secret: true,
      description: 'Key of the first organization; generated once and kept in the data folder when unset',
    }),
  ),
  ADSWEEP_EXITS_FILE: Type.Optional(
    Type.String({ description: 'JSON file of exits and host mappings; without it, exits of this machine' }),
  ),
  ADSWEEP_NODES: Type.Integer({ minimum: 0, maximum: 64, default: 1, description: 'Browser nodes to run' }),
  ADSWEEP_SLOTS: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 256, description: 'Captures at once per node; default: two per core' }),
  ),
  ADSWEEP_DEMO: Type.Integer({
    minimum: 0,
    maximum: 1,
    default: 1,
    description: '1: run the local ad world and scan a page of it; 0: neither',
  }),
  ADSWEEP_PUBLIC_URL: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'Base URL that clients reach us under; default: the local one' }),
  ),
  MONGODB_URL: Type.Optional(Type.String({ description: 'A MongoDB deployment; without it, the embedded store' })),
  REDIS_URL: Type.Optional(Type.String({ description: 'A Redis server; without it, a private one is started' })),
});

export type FarmConfig = Static<typeof FarmConfigSchema>;
