import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { listen } from '@adsweep/shared/service/listen.ts';
import Koa from 'koa';
import { Type } from 'typebox';
import { until } from '../../../shared/test/support/until.ts';
import type { Caller, Permission } from '../../src/http/caller.ts';
import { ok, type Route, route } from '../../src/http/route.ts';
import { serveRoutes } from '../../src/http/serve-routes.ts';

const shared = { group: 'Notes', summary: 'A note', replies: { 200: { description: 'It.' } } };

type Sender = Caller & {
  lease?: { jobId: string; fence: number };
  node?: { nodeId: string; instance: string; enrolment: string };
};

describe('the requests of an organization', () => {
  const begun: string[] = [];
  let held = Promise.withResolvers<void>();
  const waiting = (name: string) => async (caller: Caller) => {
    begun.push(`${caller.organizationId} ${name}`);
    await held.promise;
    return ok({});
  };
  const read = waiting('read');
  const write = waiting('write');
  const report = async ({ lease }: Sender) => {
    begun.push(`${lease!.jobId} report`);
    await held.promise;
    return ok({});
  };
  const poll = async ({ node }: Sender) => {
    begun.push(`${node!.nodeId} poll`);
    await held.promise;
    return ok({});
  };
  const routes: Route<Sender>[] = [
    route({ ...shared, method: 'GET', path: '/work', permission: 'node', handle: ({ caller }) => poll(caller) }),
    route({
      ...{ ...shared, method: 'POST', path: '/report', permission: 'lease', body: Type.Object({}) },
      handle: ({ caller }) => report(caller),
    }),
    route({ ...shared, method: 'GET', path: '/notes', permission: 'scans.read', handle: ({ caller }) => read(caller) }),
    route({
      ...shared,
      method: 'POST',
      path: '/notes',
      permission: 'scans.write',
      handle: ({ caller }) => write(caller),
    }),
    route({ ...shared, method: 'DELETE', path: '/key', permission: 'account.manage', handle: () => ok({}) }),
  ];
  let server: Awaited<ReturnType<typeof listen>>;

  before(async () => {
    const app = new Koa();
    app.silent = true;
    const permissions = new Set<Permission>(['scans.read', 'scans.write', 'account.manage']);
    const admit = async (authorization: string | undefined, permission: string): Promise<Sender> => {
      const [nodeId = '', enrolment = '', instance = ''] = authorization!.split('/');
      if (permission === 'lease') return { lease: { jobId: authorization!, fence: 1 } } as Sender;
      if (permission === 'node') return { node: { nodeId, instance, enrolment } } as Sender;
      return { organizationId: authorization!, keyId: 'key-1', permissions, expiresAt: null };
    };
    for (const middleware of serveRoutes(routes, admit)) app.use(middleware);
    server = await listen('127.0.0.1', 0, 'PORT');
    server.serve(app.callback());
  });
  afterEach(() => held.resolve());
  after(() => server.close(0));

  const call = async (method: string, path: string, authorization: string, signal?: AbortSignal) => {
    const headers = { authorization };
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers,
      ...(path === '/report' && { body: '{}' }),
      ...(signal && { signal }),
    });
    await answer.text();
    return answer.status;
  };
  const begin = () => {
    begun.length = 0;
    held = Promise.withResolvers<void>();
  };
  const ofOurs = (name: string) => begun.filter((one) => one === `ours ${name}`).length;

  test('are worked on a few at a time; those of another one, and the revocation of a key, do not wait for them', async () => {
    begin();
    const reads = Array.from({ length: 100 }, () => call('GET', '/notes', 'ours'));
    const writes = Array.from({ length: 100 }, () => call('POST', '/notes', 'ours'));
    await until('both are under way', () => ofOurs('read') >= 16 && ofOurs('write') >= 64);
    assert.equal(await call('DELETE', '/key', 'ours'), 200);
    const theirs = [call('GET', '/notes', 'theirs'), call('POST', '/notes', 'theirs')];
    await until('those of theirs are under way', () => begun.includes('theirs read') && begun.includes('theirs write'));
    assert.deepEqual([ofOurs('read'), ofOurs('write')], [16, 64]);
    held.resolve();
    const statuses = await Promise.all([...reads, ...writes, ...theirs]);
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.deepEqual([ofOurs('read'), ofOurs('write')], [100, 100]);
  });

  test('of a lease that have a body are worked on a few at a time, and do not delay another lease', async () => {
    begin();
    const reports = Array.from({ length: 40 }, () => call('POST', '/report', 'ours'));
    await until('some are under way', () => ofOurs('report') >= 4);
    const theirs = call('POST', '/report', 'theirs');
    await until('that of theirs is under way', () => begun.includes('theirs report'));
    assert.equal(ofOurs('report'), 4);
    held.resolve();
    assert.deepEqual([...new Set(await Promise.all([...reports, theirs]))], [200]);
  });

  test('for work of one node wait a few at a time, whichever of an enrolled one’s processes asks, and do not delay another node', async () => {
    begin();
    const polls = Array.from({ length: 40 }, (_, at) => call('GET', '/work', `ours/enrolment/${at}`));
    await until('some are under way', () => ofOurs('poll') >= 8);
    const theirs = Array.from({ length: 10 }, (_, at) => call('GET', '/work', `theirs//${at}`));
    await until('those of theirs are under way', () => begun.filter((one) => one === 'theirs poll').length === 10);
    assert.equal(ofOurs('poll'), 8);
    held.resolve();
    assert.deepEqual([...new Set(await Promise.all([...polls, ...theirs]))], [200]);
  });

  test('are not worked on once their client has gone', async () => {
    begin();
    const leaving = new AbortController();
    const reads = Array.from({ length: 16 }, () => call('GET', '/notes', 'ours'));
    await until('all places are taken', () => ofOurs('read') === 16);
    const gone = Array.from({ length: 20 }, () => call('GET', '/notes', 'ours', leaving.signal));
    assert.equal(await call('DELETE', '/key', 'ours'), 200);
    leaving.abort();
    await Promise.allSettled(gone);
    assert.equal(await call('DELETE', '/key', 'ours'), 200);
    held.resolve();
    await Promise.all(reads);
    assert.equal(await call('GET', '/notes', 'ours'), 200);
    assert.equal(ofOurs('read'), 17);
  });
});
