import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism, getPriority, tmpdir } from 'node:os';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { ChromiumPool } from '../src/browser/chromium-pool.ts';
import { profilePrefix, sweepProfiles } from '../src/browser/chromium-profile.ts';
import { CROWDED } from '../src/browser/context-observers.ts';
import type { OpenContext } from '../src/browser/open-context.ts';
import { processType } from '../src/browser/processes.ts';
import type { LaunchReason } from '../src/browser/recycle-policy.ts';
import { RECYCLE_LIMITS, type RecycleLimits } from '../src/browser/recycle-policy.ts';
import { chromiumOfRun } from './support/chromium-of-run.ts';
import { CredentialProxy } from './support/credential-proxy.ts';
import { DeviceSite } from './support/device-site.ts';
import { groupEnded, groupMembers } from './support/processes.ts';

async function poolBench(t: TestContext, limits: Partial<RecycleLimits> = {}) {
  const site = await DeviceSite.start();
  const proxy = await CredentialProxy.start(site.port);
  const launches: LaunchReason[] = [];
  const logger = createLogger('test', 'silent');
  const launched = (reason: LaunchReason) => void launches.push(reason);
  const pool = new ChromiumPool(await chromiumOfRun(), logger, launched, { ...RECYCLE_LIMITS, ...limits });
  t.after(async () => {
    await pool.close();
    await proxy.close();
    await site.close();
  });
  const emulator = findEmulator('android_phone_pixel_8');
  assert.ok(emulator);
  const open = (isolated = false, goesLast = false) =>
    pool.open({ emulator, countryCode: 'FR', ticket: proxy.ticket, isolated, goesLast });
  return { pool, launches, open };
}

async function pidOf({ browser }: OpenContext): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.find(({ type }) => type === 'browser')?.id ?? 0;
}

async function loadPage(open: OpenContext): Promise<string> {
  const page = await open.context.newPage();
  await page.goto('http://shop.localhost/popup');
  return page.url();
}

test('contexts of one browser run concurrently, each with an id of its own', async (t) => {
  const { open, launches } = await poolBench(t);
  const contexts = await Promise.all([open(), open(), open()]);
  assert.deepEqual(launches, ['first']);
  assert.equal(new Set(contexts.map(({ browserContextId }) => browserContextId)).size, 3);
  const page = await contexts[1].context.newPage();
  const session = await contexts[1].context.newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  assert.equal(targetInfo.browserContextId, contexts[1].browserContextId);
  await Promise.all(contexts.map((each) => each.close()));
});

test('a browser to be recycled keeps its contexts and ends with the last one, and new contexts open in its successor', async (t) => {
  const { open, launches } = await poolBench(t, { contexts: 2 });
  const [first, second] = [await open(), await open()];
  const recycled = await pidOf(first);
  const third = await open();
  assert.deepEqual(launches, ['first', 'contexts']);
  assert.notEqual(await pidOf(third), recycled);
  assert.equal(await loadPage(first), 'http://shop.localhost/popup');
  await first.close();
  assert.equal(await loadPage(second), 'http://shop.localhost/popup');
  await second.close();
  await groupEnded(recycled);
  await third.close();
});

test('a context that asks too much leaves the browser that it shares; one that is alone keeps it, and others open in the next', async (t) => {
  const { open, launches } = await poolBench(t);
  const [first, second] = [await open(), await open()];
  assert.deepEqual([first.leaveShared(), first.browserEnded(), second.browserEnded()], [true, true, false]);
  await first.close();
  assert.deepEqual([second.leaveShared(), second.browserEnded()], [false, false]);
  const [keptPid, third] = [await pidOf(second), await open()];
  assert.deepEqual(launches, ['first', 'isolated']);
  assert.notEqual(await pidOf(third), keptPid);
  assert.equal(getPriority(keptPid), 19);
  const session = await readFile(`/proc/${keptPid}/autogroup`, 'utf8').catch(() => 'nice 19');
  assert.match(session, /nice 19$/m);
  assert.equal(await loadPage(second), 'http://shop.localhost/popup');
  await second.close();
  await groupEnded(keptPid);
  await third.close();
});

/** More busy renderers than any machine has cores for; each is of a site of its own. */
const BUSY_FRAMES = availableParallelism() * 10;
const BUSY =
  '<script>setInterval(() => { const until = performance.now() + 90; while (performance.now() < until); }, 10)</script>';

/** Resolves once the context is told that it leaves the others too little. */
async function crowdsOthers({ context, observe }: OpenContext): Promise<void> {
  const { promise: told, resolve } = Promise.withResolvers<void>();
  observe((method) => {
    if (method === CROWDED) resolve();
    return true;
  });
  const frames = Array.from({ length: BUSY_FRAMES }, (_, n) => `<iframe src="http://busy-${n}.localhost/"></iframe>`);
  await context.route('**/*', (route) => {
    const isFrame = new URL(route.request().url()).hostname.startsWith('busy-');
    return route.fulfill({ contentType: 'text/html', body: isFrame ? BUSY : frames.join('') });
  });
  const page = await context.newPage();
  await Promise.all([page.goto('http://busy.example/', { waitUntil: 'commit' }), told]);
}

test('a context whose busy frames leave others no CPU is told so; in a browser of its own, all its processes go last', async (t) => {
  const { open } = await poolBench(t);
  const [small, crowding, own] = [await open(), await open(), await open(true)];
  await loadPage(small);
  small.observe((method) => {
    assert.notEqual(method, CROWDED);
    return true;
  });
  await crowdsOthers(crowding);
  assert.equal(crowding.leaveShared(), true);
  await crowding.close();
  await crowdsOthers(own);
  assert.equal(own.leaveShared(), false);
  const members = await groupMembers(await pidOf(own));
  const priorities = members.filter((pid) => processType(pid) === 'renderer').map((pid) => getPriority(Number(pid)));
  assert.ok(priorities.length > BUSY_FRAMES / 2, String(priorities.length));
  assert.deepEqual(new Set(priorities), new Set([19]));
  await Promise.all([small.close(), own.close()]);
});

test('an isolated context has a browser of its own, which ends with it', async (t) => {
  const { open, launches } = await poolBench(t);
  const [shared, isolated] = [await open(), await open(true)];
  const [sharedPid, isolatedPid] = [await pidOf(shared), await pidOf(isolated)];
  assert.notEqual(isolatedPid, sharedPid);
  assert.equal(await loadPage(isolated), 'http://shop.localhost/popup');
  await isolated.close();
  await groupEnded(isolatedPid);
  const [next, last] = [await open(), await open(true, true)];
  assert.equal(await pidOf(next), sharedPid);
  assert.deepEqual(launches, ['first', 'isolated', 'isolated']);
  assert.deepEqual([getPriority(sharedPid), getPriority(await pidOf(last))], [0, 19]);
  await next.close();
  await last.close();
  await shared.close();
});

test('a killed browser ends its pages at once, and the next context opens in a new browser', async (t) => {
  const { open, launches } = await poolBench(t);
  const first = await open();
  const page = await first.context.newPage();
  const pid = await pidOf(first);
  const stuck = page.evaluate('new Promise(() => {})');
  process.kill(pid, 'SIGKILL');
  await assert.rejects(stuck, /closed|crashed/);
  await first.close();
  const second = await open();
  assert.equal(await loadPage(second), 'http://shop.localhost/popup');
  assert.deepEqual(launches, ['first', 'broken']);
  await second.close();
});

test('the context of a browser that hangs counts as closed after a timeout, and the next context opens in a new browser', async (t) => {
  const { open, launches } = await poolBench(t);
  const first = await open();
  await loadPage(first);
  process.kill(await pidOf(first), 'SIGSTOP');
  await first.close();
  const second = await open();
  assert.equal(await loadPage(second), 'http://shop.localhost/popup');
  assert.deepEqual(launches, ['first', 'broken']);
  await second.close();
});

test('a browser that closes a context late, as on a busy machine, keeps running for its other contexts, and gets no more', async (t) => {
  const { open, launches } = await poolBench(t);
  const [late, other] = [await open(), await open()];
  await loadPage(late);
  const pid = await pidOf(late);
  process.kill(pid, 'SIGSTOP');
  await late.close();
  process.kill(pid, 'SIGCONT');
  // One that hangs is ended after twenty seconds.
  await pause(21_000);
  assert.equal(await loadPage(other), 'http://shop.localhost/popup');
  const next = await open();
  assert.notEqual(await pidOf(next), pid);
  assert.deepEqual(launches, ['first', 'broken']);
  await Promise.all([other.close(), next.close()]);
  await groupEnded(pid);
});

test('a pool whose browsers have all ended opens the next context in a new browser', async (t) => {
  const { open, pool, launches } = await poolBench(t);
  const [shared, isolated] = [await open(), await open(true)];
  await Promise.all([loadPage(shared), loadPage(isolated)]);
  const pids = [await pidOf(shared), await pidOf(isolated)];
  await pool.endBrowsers();
  assert.deepEqual([shared.browserEnded(), isolated.browserEnded()], [true, true]);
  for (const pid of pids) await groupEnded(pid);
  const next = await open();
  assert.ok(!pids.includes(await pidOf(next)));
  assert.equal(await loadPage(next), 'http://shop.localhost/popup');
  assert.deepEqual(launches, ['first', 'isolated', 'broken']);
  await Promise.all([shared, isolated, next].map((each) => each.close()));
});

test('a closed pool leaves no process and no profile', async (t) => {
  const { open, pool } = await poolBench(t);
  const context = await open();
  await loadPage(context);
  const pid = await pidOf(context);
  assert.notDeepEqual(await groupMembers(pid), []);
  await pool.close();
  await context.close();
  await groupEnded(pid);
  const profiles = (await readdir(tmpdir())).filter((name) => name.startsWith(profilePrefix(process.pid)));
  assert.deepEqual(profiles, []);
  await assert.rejects(open(), /the browser pool is closed/);
});

test('a browser ends when its node is killed, and the next node removes its profile', async () => {
  const script = new URL('./support/hold-browser.ts', import.meta.url).pathname;
  const node = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(node.stdout, 'data');
  const pid = Number(said);
  assert.notDeepEqual(await groupMembers(pid), []);
  node.kill('SIGKILL');
  await once(node, 'exit');
  await groupEnded(pid);
  await sweepProfiles();
  const profiles = (await readdir(tmpdir())).filter((name) => name.startsWith(profilePrefix(node.pid as number)));
  assert.deepEqual(profiles, []);
});

test('WebRTC sends nothing that bypasses the exit', async (t) => {
  const { open } = await poolBench(t);
  const stun = createSocket('udp4');
  await new Promise<void>((resolve) => stun.bind(0, '127.0.0.1', resolve));
  t.after(() => stun.close());
  let packets = 0;
  stun.on('message', () => {
    packets += 1;
  });
  const context = await open();
  const page = await context.context.newPage();
  await page.goto('http://shop.localhost/popup');
  const candidates = await page.evaluate(async (port) => {
    const connection = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${port}` }] });
    const found: string[] = [];
    connection.onicecandidate = ({ candidate }) => candidate?.candidate && found.push(candidate.candidate);
    connection.createDataChannel('x');
    await connection.setLocalDescription(await connection.createOffer());
    while (connection.iceGatheringState !== 'complete')
      await new Promise((resolve) => connection.addEventListener('icegatheringstatechange', resolve, { once: true }));
    return found;
  }, stun.address().port);
  assert.deepEqual(candidates, []);
  assert.equal(packets, 0);
  await context.close();
});

test('a page outside a context with an exit has no network access', async (t) => {
  const { open } = await poolBench(t);
  const context = await open();
  const bare = await context.browser.newContext();
  const page = await bare.newPage();
  await assert.rejects(page.goto('http://example.com/'), /ERR_PROXY_CONNECTION_FAILED/);
  await bare.close();
  await context.close();
});
