/** Threat: a plugin's source that ends or holds up the one process that builds all plugins. */
import t, { type Test } from 'tap';
import { Bundler, BundlerLost } from '../../../../src/plugin-host/bundler.ts';

function open(t: Test, timeoutMs = 20_000): Bundler {
  const bundler = new Bundler(timeoutMs);
  t.teardown(() => bundler.close());
  return bundler;
}

const of = (contents: string, plugins: Parameters<Bundler['build']>[0]['plugins'] = []) => ({
  stdin: { contents },
  write: false,
  logLevel: 'silent' as const,
  plugins,
});
const outputOf = async (bundler: Bundler, contents: string) =>
  (await bundler.build(of(contents))).outputFiles?.[0]?.text;
const errorOf = (build: Promise<unknown>) =>
  build.then(
    () => undefined,
    (reason: unknown) => reason,
  );

t.test('a build that fails is told as it is, and the next one is done', async (t) => {
  const bundler = open(t);
  await t.rejects(bundler.build(of('let = ;')), { errors: [{ text: /Expected|Unexpected/ }] });
  t.equal(await outputOf(bundler, 'a(1);'), 'a(1);\n');
});

t.test('what ends the process is named, and those beside it are done', { timeout: 60_000 }, async (t) => {
  const bundler = open(t);
  const killer = bundler.build(of('['.repeat(1_000_000)));
  const beside = [outputOf(bundler, 'b(2);'), outputOf(bundler, 'c(3);')];
  t.match(await errorOf(killer), { isLate: false, message: /ended/ }, 'the one that ended it');
  t.same(await Promise.all(beside), ['b(2);\n', 'c(3);\n']);
  t.equal(await outputOf(bundler, 'd(4);'), 'd(4);\n', 'a later one');
});

t.test('what never ends is ended, and held against nobody else', { timeout: 60_000 }, async (t) => {
  const bundler = open(t, 500);
  const endless = {
    name: 'endless',
    setup: (build: { onResolve(options: { filter: RegExp }, how: () => Promise<never>): void }) =>
      build.onResolve({ filter: /never/ }, () => new Promise<never>(() => {})),
  };
  const error = await errorOf(bundler.build({ ...of('import "never";', [endless]), bundle: true }));
  t.type(error, BundlerLost);
  t.match(error, { isLate: true, message: /took too long/ });
  t.equal(await outputOf(bundler, 'e(5);'), 'e(5);\n');
});
