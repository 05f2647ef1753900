/**
 * A missing permission is reported where the author and the operator look: in the answer, the log and the plugin's
 * view.
 */
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { PackageFolder } from '../support/packages/package-oracle.ts';
import { startPluginHost } from '../support/plugin-host.ts';

t.test('an environment entry that is read by a name made at run time', async (t) => {
  const files = {
    'reads.ts': `
      const prefix = 'PRICE_';
      export async function handler({ params }) {
        if (params.well) return process.env[prefix + 'LIMIT'] ?? 'none';
        return new URL(process.env[prefix + 'URL']).href;
      }`,
    'at-load.ts': `
      const need = (name: string) => { const value = process.env[name]; if (!value) throw new Error(\`\${name} is not set\`); return value; };
      const url = need('START_' + 'URL');
      export const handler = () => url;`,
  };
  const entries = [{ id: 'reads', permissions: { env: [] } as never, emit_logs: true }];
  const { call, host, log, close } = await startPluginHost({ files, entries });
  t.teardown(close);
  const line = 'add "PRICE_URL" to permissions.env of its entry in config.json';
  const failed = await call('reads', {});
  t.match(failed.body.error, line);
  t.match(failed.body.metadata.logs.map(({ message }: { message: string }) => message).join(), line);
  t.match(log(), 'add \\"PRICE_URL\\" to permissions.env of plugin reads in config.json');
  const well = await call('reads', { well: true });
  t.match(well.body, { success: true, data: 'none', metadata: { logs: [] } });
  const reads = (await host.get('reads'))['reads'] as unknown as { environment: { name: string; missing: string }[] };
  t.strictSame(
    reads.environment.map(({ name }) => name),
    ['PRICE_LIMIT', 'PRICE_URL'],
  );
  const broken = await eventually(
    () => call('at-load'),
    ({ body }) => body.error !== undefined,
  );
  t.match(broken.body.error, /START_URL is not set \(process\.env\.START_URL is not granted: add "START_URL"/);
});

t.test('a host that packages were not granted is named in the message that they show', async (t) => {
  const folder = new PackageFolder({
    'with-viem.ts': `
      import { createPublicClient, http } from 'viem';
      const client = createPublicClient({ transport: http('https://node.example/rpc', { retryCount: 0 }) });
      export const handler = () => client.getBlockNumber();`,
    'with-axios.ts': `
      import axios from 'axios';
      export const handler = async () => (await axios.get('https://api.example/price')).data;`,
    'with-fetch.ts': `export const handler = () => fetch('https://api.example/price');`,
  });
  t.teardown(() => folder.remove());
  // The first call of a package is slow on a busy machine.
  const limits = { slice_ms: 60_000, cpu_ms: 60_000 } as never;
  const ids = ['with-fetch', 'with-viem', 'with-axios'];
  const entries = ids.map((id) => ({ id, limits }));
  const { call, close } = await startPluginHost({ pluginsDir: folder.plugins, entries });
  t.teardown(close);
  for (const id of ids) {
    // A busy machine needs time for the build.
    const { body } = await eventually(
      () => call(id),
      (answer) => answer.body.data?.code !== 'SERVICE_UNAVAILABLE',
      60_000,
    );
    t.match(body.error, /add "permissions": \{"hosts": \["(?:api|node)\.example"\]\}/, id);
  }
});
