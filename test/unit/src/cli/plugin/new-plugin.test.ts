import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newPlugin } from '../../../../../src/cli/plugin/new-plugin.ts';
import { commandBefore, given } from '../../../../support/cli-answers.ts';

t.test('a plugin is written once', async (t) => {
  const dir = t.testdir({});
  const { context, said } = commandBefore(dir, () => ({ body: {} }));
  t.equal(await newPlugin(context, given(['hello'])), 0);
  t.match(readFileSync(join(dir, 'plugins', 'hello.ts'), 'utf8'), 'POST /api/v1/plugins/hello/call');
  t.match(
    said(),
    /Written: plugins\/hello\.ts\nWritten: plugins\/hello\.test\.ts\n[^]*npx isolayer plugin call hello[^]*npx isolayer plugin test hello/,
  );
  await t.rejects(newPlugin(context, given(['hello'])), /exists; it is not overwritten/);
  for (const id of ['', '_own', '.own', '../x', 'a b']) {
    await t.rejects(newPlugin(context, given([id])), /cannot be a plugin's id/, id);
  }
});
