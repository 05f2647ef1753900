/** Plugins that are added, edited or removed in the plugins folder take effect without a restart. */
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startPluginHost } from '../support/plugin-host.ts';

const returns = (value: string) => `export const handler = () => '${value}';`;

t.test('plugins come, change and go', async (t) => {
  const { call, close, folder, log } = await startPluginHost({
    files: {
      'a.ts': `import { text } from './lib/text.ts';\nexport const handler = () => text;`,
      'lib/text.ts': `export const text = 'first';`,
    },
  });
  t.teardown(close);
  const data = async (id: string) => (await call(id).catch(() => ({ body: { data: 'unknown' } }))).body.data;
  const becomes = async (id: string, wanted: string) =>
    t.equal(
      await eventually(
        () => data(id),
        (now) => now === wanted,
      ),
      wanted,
      `${id} becomes ${wanted}`,
    );

  await becomes('a', 'first');
  folder.write('lib/text.ts', `export const text = 'second';`);
  await becomes('a', 'second');

  folder.write('a.ts', 'export const handler = () => {{;');
  folder.write('dropped/index.ts', returns('dropped in'));
  await becomes('dropped', 'dropped in');
  await eventually(log, (text) => text.includes('the old one keeps serving'));
  t.match(log(), /plugins\/a\.ts:1:\d+/, 'the log names the place');
  t.equal(await data('a'), 'second', 'a version that does not compile leaves the old one serving');
  folder.write('a.ts', returns('mended'));
  await becomes('a', 'mended');

  folder.remove('dropped');
  await becomes('dropped', 'unknown');
});

t.test('calls that have begun finish on the version they began with', async (t) => {
  const source = (value: string) => `export const handler = async ({ params }) => {
    if (params.slow) await new Promise((resolve) => setTimeout(resolve, 2000));
    return '${value}';
  };`;
  const { call, close, folder, host } = await startPluginHost({ files: { 'a.ts': source('old') } });
  t.teardown(close);
  const slow = call('a', { slow: true });
  await eventually(
    () => host.status().running,
    (running) => running === 1,
  );
  folder.write('a.ts', source('new'));
  t.equal(
    (
      await eventually(
        () => call('a'),
        ({ body }) => body.data === 'new',
      )
    ).body.data,
    'new',
  );
  t.equal((await slow).body.data, 'old');
});
