import t from 'tap';
import { closestName } from '../../../../src/cli/closest-name.ts';

t.test('a slip of the keyboard is understood, another word is not', (t) => {
  const names = ['check', 'call', 'logs', 'keystore'];
  for (const [typed, meant] of [
    ['chekc', 'check'],
    ['Check', 'check'],
    ['keystroe', 'keystore'],
    ['log', 'logs'],
    ['cal', 'call'],
  ] as const) {
    t.equal(closestName(typed, names), meant, typed);
  }
  for (const typed of ['', 'x', 'restore-everything', 'a'.repeat(100_000)])
    t.equal(closestName(typed, names), undefined);
  t.end();
});
