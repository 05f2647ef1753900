import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { sandboxTexts } from '../../../../host/compiler/sandbox-texts.ts';

/** A small sandbox, a folder for kept texts, and a compiler that counts its builds. */
function setUp(t: Test) {
  const dir = t.testdir({ sandbox: { guest: { 'boot.ts': 'one' } }, kept: {} });
  const sandbox = join(dir, 'sandbox');
  const kept = join(dir, 'kept');
  let built = 0;
  const compiler = {
    runtime: async () => `runtime ${(built += 1)}`,
    child: async () => 'program',
  };
  return { dir, sandbox, kept, texts: (folder: string | undefined = kept) => sandboxTexts(compiler, sandbox, folder) };
}

t.test('what was built is built again when its sources are others, and nothing else is kept', async (t) => {
  const { sandbox, kept, texts } = setUp(t);
  const first = { runtime: 'runtime 1', program: 'program' };
  t.strictSame(await texts(), first);
  t.strictSame(await texts(), first);
  writeFileSync(join(sandbox, 'guest', 'boot.ts'), 'two');
  t.match(await texts(), { runtime: 'runtime 2' });
  writeFileSync(join(sandbox, 'guest', 'more.ts'), '');
  t.match(await texts(), { runtime: 'runtime 3' });
  t.equal(readdirSync(kept).length, 1);
});

t.test('what is damaged is built again', async (t) => {
  const { kept, texts } = setUp(t);
  await texts();
  const [name = ''] = readdirSync(kept);
  for (const damage of ['', '{"runtime":"r"}', '{"runtime":1,"program":"p"}']) {
    writeFileSync(join(kept, name), damage);
    t.match(await texts(), { runtime: /^runtime \d$/, program: 'program' }, damage);
  }
});

t.test('a folder that is no folder keeps nothing', async (t) => {
  const { dir, texts } = setUp(t);
  const none = join(dir, 'sandbox', 'guest', 'boot.ts');
  t.match(await texts(none), { runtime: 'runtime 1' });
  t.match(await texts(none), { runtime: 'runtime 2' });
});
