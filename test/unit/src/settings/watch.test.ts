import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { digestFiles, watchConfiguration } from '../../../../src/settings/watch.ts';

/** A configuration folder that is watched. The watch does not keep the process alive, so a timer does. */
async function watched(t: Test, onChange: (files: string[]) => Promise<void> = () => Promise.resolve()) {
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
  const dir = t.testdir({ 'config.json': 'one', networks: { 'a.json': 'a', 'note.txt': 'x' } });
  const at = (...path: string[]) => join(dir, ...path);
  const files = { files: [at('config.json'), at('.env')], folder: at('networks') };
  const told: string[][] = [];
  let heard = Promise.withResolvers<void>();
  const close = watchConfiguration({
    ...files,
    since: await digestFiles(files),
    async onChange(changed) {
      told.push(changed);
      heard.resolve();
      heard = Promise.withResolvers();
      await onChange(changed);
    },
    everyMs: 5,
    quietMs: 5,
  });
  t.teardown(close);
  const changes = async (change: () => void) => {
    const next = heard.promise;
    change();
    await next;
    return told.at(-1);
  };
  return { at, told, changes, close };
}

t.test('a change is told once, by whatever way it came', async (t) => {
  const { at, told, changes, close } = await watched(t);
  t.strictSame(await changes(() => writeFileSync(at('config.json'), 'two')), [at('config.json')]);
  t.strictSame(await changes(() => writeFileSync(at('.env'), 'A=1')), [at('.env')]);
  const renamed = () => {
    writeFileSync(at('config.json.tmp'), 'three');
    renameSync(at('config.json.tmp'), at('config.json'));
  };
  t.strictSame(await changes(renamed), [at('config.json')]);
  t.strictSame(await changes(() => writeFileSync(at('networks', 'b.json'), 'b')), [at('networks', 'b.json')]);
  t.strictSame(await changes(() => rmSync(at('networks', 'a.json'))), [at('networks', 'a.json')]);
  await close();
  await close();
  t.equal(told.length, 5);
});

t.test('what editors put beside the files is nothing', async (t) => {
  const { at, told, changes } = await watched(t);
  const left = () => {
    writeFileSync(at('networks', 'note.txt'), 'y');
    writeFileSync(at('networks', '.#a.json'), 'lock');
    writeFileSync(at('networks', 'a.json~'), 'before');
    writeFileSync(at('.config.json.swp'), 'swap');
    mkdirSync(at('networks', 'more'));
    writeFileSync(at('config.json'), 'two');
  };
  t.strictSame(await changes(left), [at('config.json')]);
  t.equal(told.length, 1);
});

t.test('a file that is being written is waited for: emptied first, or taken away and put back', async (t) => {
  const contents: string[][] = [];
  const { at, changes } = await watched(t, async (changed) => {
    contents.push(changed);
  });
  t.strictSame(
    await changes(() => {
      writeFileSync(at('config.json'), '');
      rmSync(at('networks', 'a.json'));
      setTimeout(() => {
        writeFileSync(at('config.json'), 'whole');
        writeFileSync(at('networks', 'a.json'), 'a');
      }, 30);
    }),
    [at('config.json')],
  );
  t.equal(contents.length, 1);
});

t.test('a file that stays away is told of', async (t) => {
  const { at, changes } = await watched(t);
  t.strictSame(await changes(() => rmSync(at('config.json'))), [at('config.json')]);
});

t.test('what could not be dealt with is told again', async (t) => {
  let failures = 2;
  const { at, told, changes } = await watched(t, async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('the database is away');
  });
  await changes(() => writeFileSync(at('config.json'), 'two'));
  await changes(() => undefined);
  await changes(() => undefined);
  t.strictSame(told, [[at('config.json')], [at('config.json')], [at('config.json')]]);
});

t.test('what is not there is no error', async (t) => {
  const files = { files: [join(t.testdir({}), 'config.json')], folder: join(t.testdir({}), 'networks') };
  t.equal((await digestFiles(files)).size, 0);
});
