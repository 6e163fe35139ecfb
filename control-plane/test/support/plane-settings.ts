export type PlaneSettings = { folder: string; proxyUrl: string; redisUrl: string; nodeToken: string; apiKey: string };

/** The settings of a whole control plane of a test: free ports, and the folder and services that it was given. */
export const planeSettings = ({ folder, proxyUrl, redisUrl, nodeToken, apiKey }: PlaneSettings) => ({
  ADSWEEP_HTTP_PORT: '0',
  ADSWEEP_NODE_API_PORT: '0',
  ADSWEEP_DATA_DIR: folder,
  ADSWEEP_PROXY_URL: proxyUrl,
  ADSWEEP_NODE_TOKEN: nodeToken,
  ADSWEEP_LEASE_SECRET: 'lease-secret-of-this-test',
  ADSWEEP_API_KEY: apiKey,
  REDIS_URL: redisUrl,
});
