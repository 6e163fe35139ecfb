import type { Client } from '../../client.ts';
import { command, expectWords } from '../command.ts';

export const fleet = command({
  name: 'fleet',
  args: '',
  summary: 'show the queue and the nodes, for the operator',
  options: {},
  async run(words, _, { api: client, json, terminal }) {
    expectWords(words);
    const api = await client();
    const summary = await api.getFleet();
    const nodes = [];
    for await (const node of api.listFleetNodes.each({ limit: 200 })) nodes.push(node);
    if (json) terminal.json({ ...summary, items: nodes });
    else {
      const { queue, slots, desired_nodes } = summary;
      const waiting = queue.waiting_interactive + queue.waiting_bulk + queue.waiting_campaign;
      terminal.print(`${waiting} jobs waiting, ${queue.leased} leased, ${queue.delayed} delayed`);
      const count = `${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`;
      terminal.print(`${slots.busy} of ${slots.total} slots busy, ${count}, ${desired_nodes} needed`);
      if (nodes.length > 0)
        terminal.table(
          ['state', 'node', 'busy', 'version', 'browser', 'seen'],
          nodes.map((one) => [
            ...[one.state, one.id, `${one.busy}/${one.slots}`],
            ...[one.adsweep_version, one.browser_version, one.seen_at],
          ]),
        );
    }
    return 0;
  },
});

const CHANGES: Record<string, (api: Client, id: string) => Promise<unknown>> = {
  drain: (api, id) => api.drainFleetNode(id),
  undrain: (api, id) => api.undrainFleetNode(id),
  block: (api, id) => api.blockFleetNode(id),
  unblock: (api, id) => api.unblockFleetNode(id),
};

/** The commands that change a node. */
export const changeNodes = Object.entries(CHANGES).map(([verb, change]) =>
  command({
    name: `fleet ${verb}`,
    args: '<node>',
    summary: `${verb} a node`,
    options: {},
    async run(words, _, { api, json, terminal }) {
      const [id] = expectWords(words, '<node>');
      await change(await api(), id!);
      if (json) terminal.json({ id, done: verb });
      else terminal.print(`${verb} ${id}: done`);
      return 0;
    },
  }),
);
