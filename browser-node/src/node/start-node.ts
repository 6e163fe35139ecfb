import { randomBytes } from 'node:crypto';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import type { Registered } from '@adsweep/shared/lease/messages.ts';
import { firstSecret } from '@adsweep/shared/service/bearer.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { OperatorError } from '@adsweep/shared/service/operator-error.ts';
import type { Stop } from '@adsweep/shared/service/shutdown.ts';
import { openTlsClient, tlsClientFiles } from '@adsweep/shared/service/tls-client.ts';
import { GATEWAY_OUTCOME_HEADER, GATEWAY_STATUS } from '@adsweep/shared/targeting/gateway-status.ts';
import ownPackage from '../../package.json' with { type: 'json' };
import { ChromiumPool, tryChromium } from '../browser/chromium-pool.ts';
import { sweepProfiles } from '../browser/chromium-profile.ts';
import { LiveBrowser } from '../browser/live-browser.ts';
import { type Chromium, locateChromium } from '../browser/locate-chromium.ts';
import type { RemoteChromium } from '../browser/remote-chromium.ts';
import { REMOTE_LACKS, tryRemote } from '../browser/try-remote.ts';
import type { CapturePage } from '../capture/session/capture-outcome.ts';
import { startSweep } from '../capture/sweep/sweep.ts';
import { type Config, gatewayHosts, readLabels, slotBounds } from '../config.ts';
import { ExitsClient } from '../lease/exits-client.ts';
import { LeaseLoop } from '../lease/lease-loop.ts';
import { Renewals } from '../lease/renewals.ts';
import { readFile } from '../machine/cgroup.ts';
import { nextSlots, type SlotBounds } from '../machine/default-slots.ts';
import { ResourceMeter } from '../machine/resource-usage.ts';
import { createMetrics, type NodeMetrics } from '../metrics.ts';
import { drainOnRequest, Heartbeat } from './heartbeat.ts';
import { type EnrolmentApi, NodeEnrolment } from './node-enrolment.ts';
import { type Readiness, serveProbes } from './serve-probes.ts';
import { LoadWatch } from './watch-load.ts';
import { ServiceWatch, waitsFor } from './watch-service.ts';

/**
 * A running node: the port of its probes, its parts to stop, in order, a function that releases all work at once, and
 * one that ends all browsers while the node keeps running.
 */
export type RunningNode = {
  metricsPort: number;
  stops: Stop[];
  releaseLeases: () => void;
  endBrowsers: () => Promise<void>;
};

/** The time that a capture has to return its evidence after it was stopped. */
const EVIDENCE_MS = 5_000;

/**
 * What a browser or the node itself is answered in place of a service that cannot be reached over TLS: as the gateway
 * answers for an exit.
 */
const UNREACHED = `HTTP/1.1 ${GATEWAY_STATUS.upstream_failed} Gateway\r\n${GATEWAY_OUTCOME_HEADER}: upstream_failed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`;

/** Starts every part of a node. Throws when there is no Chromium that works or the port is taken. */
export async function startNode(config: Config, capturePage: CapturePage, logger: Logger): Promise<RunningNode> {
  await sweepProfiles();
  const { chromium, version } = await (config.BROWSER_CDP_URL === '' ? useLocal : useRemote)(config, logger);
  const metrics = createMetrics();
  const { services, nodeApiUrl, enrolment, api, exits, registered } = await openServices(config, chromium, logger);
  const pool = new ChromiumPool(chromium, logger, (reason) => metrics.browserLaunches.inc({ reason }));
  const renewals = new Renewals(nodeApiUrl);
  const parts = {
    api,
    exits,
    isRouterGone: () => router.doubt(),
    isBrowserGone: () => browser.doubt(),
    pool,
    capturePage,
    startSweep,
    metrics,
    attemptMs: config.ADSWEEP_CAPTURE_SECONDS * 1000,
    evidenceMs: EVIDENCE_MS,
    renewals,
  };
  const bounds = slotBounds(config);
  const loop = new LeaseLoop(parts, config.ADSWEEP_NODE_ID, bounds.least, logger);
  const connect = async () => (await LiveBrowser.launch(chromium, logger)).kill();
  // A node whose browser does not start would fail one scan after the other, faster than any node that works.
  const browser = new ServiceWatch({ name: 'the browser', reason: 'browser', connect }, loop.gate, logger);
  if ('cdpUrl' in chromium) pool.onlost = () => browser.lost();
  const ready = { name: 'the proxy-router', reason: 'exits', connect: () => exits.requireReady() } as const;
  const router = new ServiceWatch(ready, loop.gate, logger);
  const load = watchMachine(config, bounds, loop, metrics, logger);
  const drainAsTold = drainOnRequest(loop, config.ADSWEEP_OPERATOR_DRAIN_SECONDS * 1000, logger);
  loop.drainRequested = () => drainAsTold({ drain: true });
  const report = () => ({
    slots: loop.slots,
    slots_max: bounds.most,
    busy: loop.busy,
    draining: loop.draining,
    adsweep_version: ownPackage.version,
    browser_version: `Chromium ${version}`,
    labels: readLabels(config.ADSWEEP_NODE_LABELS) ?? {},
    overloaded: load.overloaded,
    ...waitsFor(loop.gate),
  });
  const answered = (answer: Registered) => {
    registered(answer);
    drainAsTold(answer);
  };
  const heartbeat = new Heartbeat(api, config.ADSWEEP_NODE_ID, { report, answered }, metrics, logger);

  let started = false;
  const readiness: Readiness = () => (loop.draining ? 'draining' : started ? 'ready' : 'starting');
  // Without any token nobody may read the metrics.
  const metricsToken = config.ADSWEEP_METRICS_TOKEN || config.ADSWEEP_NODE_TOKEN || randomBytes(32).toString('hex');
  const { ADSWEEP_METRICS_HOST: host, ADSWEEP_METRICS_PORT: port } = config;
  const probes = await serveProbes(host, port, readiness, metrics.registry, metricsToken);
  load.start();
  enrolment?.start();
  await heartbeat.start();
  await router.doubt();
  router.watchWhileIdle(() => loop.busy === 0);
  loop.start();
  started = true;
  const stopLeases = async () => {
    const stopped = loop.stop(config.ADSWEEP_DRAIN_SECONDS * 1000);
    await Promise.all([heartbeat.beat(), stopped]);
  };
  const stops: Stop[] = [
    ['leases', stopLeases],
    ['heartbeat', () => heartbeat.stop()],
    ['enrolment', () => enrolment?.stop()],
    ['load', () => load.stop()],
    ['renewals', () => renewals.close()],
    ['tries of the browser', () => browser.stop()],
    ['connections to the proxy-router', () => router.stop()],
    ['browsers', () => pool.close()],
    ['connections to services', () => services.close()],
    ['probes', () => probes.close(0)],
  ];
  return {
    metricsPort: probes.port,
    stops,
    releaseLeases: () => loop.releaseAll(),
    endBrowsers: () => pool.endBrowsers(),
  };
}

/**
 * The clients of the control plane and of the proxy-router. `registered`: takes the pass for the router from the answer
 * to a heartbeat.
 */
async function openServices(config: Config, { gatewayHosts }: Pick<Chromium, 'gatewayHosts'>, logger: Logger) {
  const joinToken = firstSecret(config.ADSWEEP_NODE_TOKEN);
  const services = openTlsClient(tlsClientFiles(config), UNREACHED, logger);
  const nodeApiUrl = await services.reach(config.ADSWEEP_NODE_API_URL);
  const proxyUrl = await services.reach(config.ADSWEEP_PROXY_URL);
  const enrolment = await openEnrolment(config, new LeaseClient(nodeApiUrl, ''), logger);
  const api = new LeaseClient(nodeApiUrl, () => enrolment?.credential ?? joinToken);
  let routerToken = enrolment ? '' : joinToken;
  const reachGateway = (url: string) => services.reach(url, true);
  const exits = new ExitsClient(proxyUrl, () => routerToken, gatewayHosts, reachGateway);
  const registered = ({ router_pass }: Registered) => {
    routerToken = router_pass ?? routerToken;
  };
  return { services, nodeApiUrl, enrolment, api, exits, registered };
}

/** Sets the slots of the loop by the load of the machine, and closes its gate while that is too high. */
function watchMachine(
  config: Config,
  bounds: SlotBounds,
  loop: LeaseLoop,
  metrics: NodeMetrics,
  logger: Logger,
): LoadWatch {
  const meter = new ResourceMeter(readFile, () => performance.now());
  return new LoadWatch({
    measure: () => meter.measure(),
    measured: (usage) => loop.resize(nextSlots(loop.slots, loop.busy, usage, bounds)),
    thresholds: { memory: config.ADSWEEP_MEMORY_MAX_PERCENT / 100, cpu: config.ADSWEEP_CPU_MAX_PERCENT / 100 },
    gate: loop.gate,
    metrics,
    logger,
  });
}

/** The node's own credential; null: it has a join token alone. Throws an OperatorError if it has neither. */
async function openEnrolment(config: Config, api: EnrolmentApi, logger: Logger): Promise<NodeEnrolment | null> {
  const { ADSWEEP_NODE_DATA_DIR: folder, ADSWEEP_NODE_ID: nodeId, ADSWEEP_ENROLMENT_TOKEN: token } = config;
  const enrolment = folder === '' ? null : await NodeEnrolment.open({ folder, nodeId, token }, api, logger);
  if (enrolment || config.ADSWEEP_NODE_TOKEN !== '') return enrolment;
  throw new OperatorError(`${folder} has no credential of a node: set ADSWEEP_ENROLMENT_TOKEN`);
}

/** The browser of a node, which was tried; `version` as it is reported. */
type UsedBrowser = { chromium: Chromium | RemoteChromium; version: string };

async function useLocal(config: Config, logger: Logger): Promise<UsedBrowser> {
  const chromium = await locateChromium(config.CHROMIUM_PATH, {
    uid: config.ADSWEEP_CHROMIUM_UID,
    sandbox: config.ADSWEEP_CHROMIUM_SANDBOX === 'on',
    gatewayHosts: gatewayHosts(config),
  });
  await tryChromium(chromium, logger);
  return { chromium, version: chromium.version };
}

async function useRemote(config: Config, logger: Logger): Promise<UsedBrowser> {
  const asked = { cdpUrl: config.BROWSER_CDP_URL, gatewayHosts: gatewayHosts(config) };
  const { remote, version, lacks } = await tryRemote(asked, logger);
  logger.info({ version, lacks: lacks.map((name) => `${name}: ${REMOTE_LACKS[name]}`) }, 'the browser is remote');
  return { chromium: remote, version: `${version} (remote)` };
}
