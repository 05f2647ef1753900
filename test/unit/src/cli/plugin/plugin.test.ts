import t from 'tap';
import { runTyped } from '../../../../support/command.ts';

t.test('actions are found, guessed and described', async (t) => {
  const dir = t.testdir({});
  const help = await runTyped(dir, ['plugin', '--help']);
  t.equal(help.code, 0);
  for (const name of ['new', 'check', 'types', 'call', 'logs', 'bench']) t.match(help.said, `plugin ${name}`);
  t.match(await runTyped(dir, ['plugin', 'chek']), {
    code: 1,
    complained: 'There is no plugin command "chek". Did you mean check?',
  });
  t.match((await runTyped(dir, ['plugin', 'xyzzy'])).complained, 'Say new, check');
  t.match(await runTyped(dir, ['plugin', 'call']), { code: 1, complained: /It is: plugin call <id>/ });
  t.match(await runTyped(dir, ['plugin', 'new', 'mine']), { code: 0, said: /Written: plugins\/mine\.ts/ });
});
