import t from 'tap';
import { WrongUsage } from '../../../../src/cli/command.ts';
import { runTyped } from '../../../support/command.ts';

t.test('what a command has no form for is told apart from what it could not do', async (t) => {
  t.match(new WrongUsage('It is: backup <file>'), { message: 'It is: backup <file>' });
  t.match(await runTyped('.', ['tx', 'list', 'r1', 'x']), { code: 2, complained: /^It is: tx list/ });
});
