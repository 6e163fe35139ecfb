import { OPERATIONS } from '../../generated/operations.ts';
import { command, expectWords, UsageError } from '../command.ts';
import { readVersion } from '../read-version.ts';

const GROUPS = [...new Set(Object.values(OPERATIONS).map(({ group }) => group))];

export const mcp = command({
  name: 'mcp',
  args: '',
  summary: 'serve the API as tools for assistants, by MCP over stdin and stdout',
  options: {
    group: { type: 'string', multiple: true, means: 'only tools of this group; may be repeated', values: GROUPS },
    'read-only': { type: 'boolean', means: 'only tools that change nothing' },
  },
  async run(words, { group: groups = [], 'read-only': readOnly = false }, { api, config: { url } }) {
    expectWords(words);
    const { chosen, mcpServer, StdioServerTransport, toolsOf } = await load();
    const client = await api();
    const all = toolsOf(await client.getOpenApiDocument());
    const server = mcpServer({ version: readVersion(), api: client, tools: chosen(all, { groups, readOnly }), url });
    const closed = new Promise<void>((resolve) => {
      server.onclose = resolve;
      // The transport does not notice that its client has gone.
      process.stdin.once('end', () => void server.close());
    });
    await server.connect(new StdioServerTransport());
    await closed;
    return 0;
  },
});

/** What only this command needs: the SDK is installed by those who use it. */
async function load() {
  try {
    const [tools, server, stdio] = await Promise.all([
      import('../../mcp/tools.ts'),
      import('../../mcp/server.ts'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
    ]);
    return { ...tools, ...server, ...stdio };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError('adsweep mcp needs a further package: npm install @modelcontextprotocol/sdk');
  }
}
