import { writeFileSync } from 'node:fs';
import { OPERATIONS } from '../../generated/operations.ts';
import type { OperationId } from '../../methods.ts';
import type { Operation } from '../../operation.ts';
import { command, expectWords, type Options, UsageError } from '../command.ts';
import { listRows } from '../list-rows.ts';
import { readJson } from '../read-text.ts';

const operationOf = (name: string | undefined): Operation | undefined =>
  name !== undefined && Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name as OperationId] : undefined;

export const api = command({
  name: 'api',
  args: '[<operation> <id>...]',
  summary: 'call any operation of the API, or list them',
  words: Object.keys(OPERATIONS),
  options: {
    body: { type: 'string', short: 'b', means: 'the body: JSON, @file or @-' },
    each: { type: 'boolean', means: 'all pages of a list' },
    output: { type: 'string', short: 'O', means: 'the file for a picture, a video or a text' },
  },
  /** The query parameters of the operation are options too, and `--label_<key>` of lists. */
  more([name, ...words]) {
    const labels = words.flatMap((word) => word.match(/^--(label_\w+)/)?.[1] ?? []);
    const names = [...(operationOf(name)?.query ?? []), ...labels];
    return Object.fromEntries(names.map((one) => [one, { type: 'string', means: 'a query parameter' }])) as Options;
  },
  async run([name, ...words], { body, each, output, ...query }, context) {
    const { json, terminal } = context;
    if (name === undefined)
      return listRows(context, Object.entries(OPERATIONS), {
        operation: ([id]) => id,
        ids: ([, { path }]) => idsOf(path).join(' '),
        summary: ([, { summary }]) => summary,
      });
    const operation = operationOf(name);
    if (!operation) throw new UsageError(`no such operation: ${name}; adsweep api lists them`);
    const ids = expectWords(words, ...idsOf(operation.path));
    const client = await context.api();
    const call = client[name as 'listScans'] as unknown as Call;
    const input = operation.body ? (body === undefined ? undefined : await readJson(body)) : query;
    const sent = [...ids, input, { query }];

    if (operation.answer === 'events') {
      for await (const event of call(...sent) as unknown as AsyncIterable<unknown>) terminal.line(event);
      return 0;
    }
    if (each) {
      if (!call.each) throw new UsageError(`${name} has no pages`);
      for await (const item of call.each(...sent)) terminal.line(item);
      return 0;
    }
    const answer = await call(...sent);
    if (operation.answer === 'json') terminal.json(answer);
    else if (operation.answer === 'nothing') {
      if (json) terminal.json(null);
    } else {
      const bytes = Buffer.from(await new Blob([answer as Blob | string]).arrayBuffer());
      if (output !== undefined) writeFileSync(output, bytes);
      else if (terminal.isTerminal)
        throw new UsageError('a terminal does not show these bytes: use --output, or a pipe');
      else terminal.bytes(bytes);
    }
    return 0;
  },
});

type Call = { (...sent: unknown[]): Promise<unknown>; each?(...sent: unknown[]): AsyncIterable<unknown> };

const idsOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, id]) => `<${id}>`);
