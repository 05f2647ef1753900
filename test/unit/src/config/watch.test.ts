import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { watchConfiguration } from '../../../../src/config/watch.ts';

t.test('a change is told once, by whatever way it came; what is again as it was is none', async (t) => {
  // The watch keeps no process alive.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
  const dir = t.testdir({ 'config.json': 'one', networks: { 'a.json': 'a', 'note.txt': 'x' } });
  const at = (...path: string[]) => join(dir, ...path);
  const told: string[][] = [];
  let heard = Promise.withResolvers<void>();
  const end = watchConfiguration({
    files: [at('config.json'), at('.env')],
    folder: at('networks'),
    onChange(files) {
      told.push(files);
      heard.resolve();
      heard = Promise.withResolvers();
    },
    everyMs: 5,
  });
  t.teardown(end);
  const changes = async (change: () => void) => {
    const next = heard.promise;
    change();
    await next;
    return told.at(-1);
  };
  // The first look has been taken when a file that was there from the beginning is read anew without a word.
  writeFileSync(at('networks', 'note.txt'), 'y');
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.strictSame(told, []);
  t.strictSame(await changes(() => writeFileSync(at('config.json'), 'two')), [at('config.json')]);
  t.strictSame(await changes(() => writeFileSync(at('.env'), 'A=1')), [at('.env'), at('config.json')]);
  const rest = [at('.env'), at('config.json'), at('networks', 'a.json')];
  t.strictSame(await changes(() => rmSync(at('networks', 'a.json'))), rest);
  t.strictSame(await changes(() => writeFileSync(at('networks', 'a.json'), 'a')), rest.slice(0, 2));
  end();
  end();
  t.equal(told.length, 4);
});

t.test('what is not there is no error', async (t) => {
  const dir = t.testdir({});
  const told: string[][] = [];
  const end = watchConfiguration({
    files: [join(dir, 'config.json')],
    folder: join(dir, 'networks'),
    onChange: (files) => told.push(files),
    everyMs: 1,
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  end();
  t.strictSame(told, []);
});
