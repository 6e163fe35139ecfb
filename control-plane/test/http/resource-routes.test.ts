import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listen } from '@adsweep/shared/service/listen.ts';
import Koa from 'koa';
import { Type } from 'typebox';
import type { Caller, Permission } from '../../src/http/caller.ts';
import { resource } from '../../src/http/resource-routes.ts';
import type { Route } from '../../src/http/route.ts';
import { serveRoutes } from '../../src/http/serve-routes.ts';

type Note = { _id: string; text: string };

const NoteSchema = Type.Object({ id: Type.String(), text: Type.String() }, { title: 'Note' });
const NoteInSchema = Type.Object({ text: Type.String({ minLength: 1 }) }, { additionalProperties: false });

/** Notes of one organization, with every kind of route that a resource can have. */
function noteRoutes(stored: Map<string, Note>, audited: string[], written: () => void): Route<Caller>[] {
  const notes = resource<Note>({
    group: 'Notes',
    path: '/notes',
    id: { name: 'note_id', description: 'The note.' },
    noun: 'note',
    permission: { read: 'scans.read', write: 'scans.write' },
    schema: NoteSchema,
    presenter: () => presentNote,
    written,
  });
  const all = () => [...stored.values()];
  return [
    notes.page({
      summary: 'Notes',
      query: { prefix: Type.Optional(Type.String()) },
      reply: 'A page of notes.',
      rows: async ({ query: { prefix = '' } }, { skip, limit }) => {
        const found = all().filter(({ text }) => text.startsWith(prefix));
        return { rows: found.slice(skip, skip + limit), total: found.length };
      },
    }),
    notes.create({
      summary: 'Create a note',
      body: NoteInSchema,
      reply: 'The note.',
      refine: ({ body: { text = '' } }) =>
        text === 'no' ? [{ loc: ['body', 'text'], msg: 'Must not be no.', type: 'no', ctx: {} }] : [],
      create: ({ id, body: { text }, audit }) => {
        const { action, actor, subject_id, changes } = audit('note.created', id, { text });
        audited.push(`${actor.kind} ${actor.key_id} ${action} ${subject_id === id} ${JSON.stringify(changes)}`);
        const note = { _id: id, text };
        stored.set(id, note);
        return note;
      },
    }),
    notes.read({ summary: 'Read a note', reply: 'The note.', find: ({ id }) => stored.get(id) ?? null }),
    notes.change({
      summary: 'Change a note',
      body: NoteInSchema,
      reply: 'The note.',
      change: ({ id, body: { text } }) => {
        const note = stored.get(id);
        return note ? Object.assign(note, { text }) : null;
      },
    }),
    notes.command({
      method: 'POST',
      below: 'upper-case',
      summary: 'Write a note in capitals',
      reply: 'It is changed.',
      run: ({ id }) => {
        const note = stored.get(id);
        return note ? Object.assign(note, { text: note.text.toUpperCase() }) : null;
      },
    }),
    notes.command({
      method: 'DELETE',
      summary: 'Delete a note',
      reply: 'It is gone.',
      run: ({ id }) => (stored.delete(id) ? undefined : null),
    }),
  ];
}

const presentNote = ({ _id, text }: Note) => ({ id: _id, text });

describe('a resource', () => {
  const [stored, audited] = [new Map<string, Note>(), [] as string[]];
  let writes = 0;
  const routes = noteRoutes(stored, audited, () => {
    writes += 1;
  });
  let server: Awaited<ReturnType<typeof listen>>;
  const asked: string[] = [];

  before(async () => {
    const app = new Koa();
    app.use(async (context, next) => {
      try {
        await next();
      } catch (error) {
        context.status = (error as { status: number }).status;
        context.body = { detail: (error as { detail: unknown }).detail };
      }
    });
    const permissions = new Set<Permission>(['scans.read']);
    const caller: Caller = { organizationId: 'ours', keyId: 'key-1', permissions, expiresAt: null };
    const admit = async (_: unknown, permission: string) => {
      asked.push(permission);
      return caller;
    };
    for (const middleware of serveRoutes(routes, admit)) app.use(middleware);
    server = await listen('127.0.0.1', 0, 'PORT');
    server.serve(app.callback());
  });
  after(() => server.close(0));

  const call = async (method: string, path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, ...sent });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: the body is what is tested
    return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as any };
  };

  test('is created, listed in pages, read, changed and deleted', async () => {
    const created = await call('POST', '/notes', { text: 'first' });
    assert.equal(created.status, 201);
    const { id } = created.body;
    assert.deepEqual(created.body, { id, text: 'first' });
    await call('POST', '/notes', { text: 'second' });
    await call('POST', '/notes', { text: 'following' });

    const page = await call('GET', '/notes?prefix=f&limit=1&page=2');
    assert.equal(page.status, 200);
    assert.deepEqual(
      page.body.items.map(({ text }: { text: string }) => text),
      ['following'],
    );
    const { total, page: number, limit, pages } = page.body;
    assert.deepEqual({ total, number, limit, pages }, { total: 2, number: 2, limit: 1, pages: 2 });

    assert.deepEqual((await call('GET', `/notes/${id}`)).body, { id, text: 'first' });
    assert.deepEqual((await call('PATCH', `/notes/${id}`, { text: 'changed' })).body, { id, text: 'changed' });
    assert.deepEqual(await call('POST', `/notes/${id}/upper-case`), { status: 204, body: null });
    assert.deepEqual((await call('GET', `/notes/${id}`)).body, { id, text: 'CHANGED' });
    assert.deepEqual(await call('DELETE', `/notes/${id}`), { status: 204, body: null });
    assert.equal(stored.has(id), false);
  });

  test('answers 404 with its noun for an item that does not exist, on every route of an item', async () => {
    const missing = { status: 404, body: { detail: 'There is no such note.' } };
    assert.deepEqual(await call('GET', '/notes/none'), missing);
    assert.deepEqual(await call('PATCH', '/notes/none', { text: 'x' }), missing);
    assert.deepEqual(await call('POST', '/notes/none/upper-case'), missing);
    assert.deepEqual(await call('DELETE', '/notes/none'), missing);
  });

  test('calls written after a successful write, and not after reads, refusals or a 404', async () => {
    const before = writes;
    await call('GET', '/notes');
    await call('DELETE', '/notes/none');
    assert.equal((await call('POST', '/notes', { text: 'no' })).status, 422);
    assert.equal((await call('POST', '/notes', {})).status, 422);
    assert.equal(writes, before);
    await call('POST', '/notes', { text: 'yes' });
    assert.equal(writes, before + 1);
  });

  test('creates audit entries with the key of the request and the id of the new record', async () => {
    audited.length = 0;
    await call('POST', '/notes', { text: 'audited' });
    assert.deepEqual(audited, ['api_key key-1 note.created true {"text":"audited"}']);
  });

  test('requires the read or the write permission, depending on the method', async () => {
    asked.length = 0;
    await call('GET', '/notes');
    await call('GET', '/notes/none');
    await call('POST', '/notes', { text: 'x' });
    await call('DELETE', '/notes/none');
    assert.deepEqual(asked, ['scans.read', 'scans.read', 'scans.write', 'scans.write']);
  });

  test('documents 404 for paths with a parameter, the description of its id, and paging only for paged lists', () => {
    const documented = routes.map(({ method, path, errors }) => `${method} ${path} ${errors.join()}`);
    assert.deepEqual(documented, [
      'GET /notes ',
      'POST /notes ',
      'GET /notes/{note_id} not_found',
      'PATCH /notes/{note_id} not_found',
      'POST /notes/{note_id}/upper-case not_found',
      'DELETE /notes/{note_id} not_found',
    ]);
    const [page, , read] = routes;
    assert.deepEqual(Object.keys(page!.query.properties), ['prefix', 'page', 'limit']);
    assert.deepEqual(read!.params.properties, { note_id: Type.String({ description: 'The note.' }) });
  });
});
