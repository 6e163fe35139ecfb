import type { Schemas } from '../../client.ts';
import { command, expectWords, UsageError } from '../command.ts';
import { listRows } from '../list-rows.ts';
import { readJson } from '../read-text.ts';

export const rules = command({
  name: 'rules',
  args: '',
  summary: 'list your detection rules',
  options: {},
  async run(words, _, context) {
    expectWords(words);
    const api = await context.api();
    return listRows(context, api.listCustomRules.each({ limit: 200 }), {
      name: (one) => one.name,
      type: (one) => one.rule_type,
      tag: (one) => one.tag_slug,
      active: (one) => (one.is_active ? 'yes' : 'no'),
      id: (one) => one.id,
    });
  },
});

export const testRules = command({
  name: 'rules test',
  args: '<file | ->',
  summary: 'try rules, a JSON object or a list of them, on finished scans',
  options: { scan: { type: 'string', short: 's', multiple: true, means: 'a scan to try them on' } },
  async run(words, { scan: scan_ids }, { api, json, terminal }) {
    const [file] = expectWords(words, '<file | ->');
    if (!scan_ids) throw new UsageError('--scan is missing');
    const tried = [await readJson(`@${file}`)].flat() as Schemas['BatchRule'][];
    const batch = await (await api()).testCustomRulesBatch({ rules: tried, scan_ids });
    if (json) terminal.json(batch);
    else {
      terminal.table(
        ['rule', 'scan', 'matched', 'tag', 'detail'],
        batch.results.map((cell) => [
          ...[
            tried[cell.index]?.name ?? `rules[${cell.index}]`,
            cell.scan_id,
            cell.error_code ?? (cell.matched ? 'yes' : 'no'),
          ],
          ...[cell.tags.map(({ tag_slug }) => tag_slug).join(','), cell.error ?? cell.tags[0]?.detail ?? ''],
        ]),
      );
      const { total, matched, failed } = batch.summary;
      terminal.print(`${matched} of ${total} matched${failed > 0 ? `, ${failed} failed` : ''}`);
    }
    return batch.summary.failed > 0 ? 1 : 0;
  },
});
