import t from 'tap';
import { isSameChain } from '../../../../src/chains/chain.ts';

/** Two identities that begin with the same `devX` are two starts of one chain. */
const family = { restartable: (identity: string) => (identity.startsWith('dev') ? identity.slice(0, 4) : undefined) };

t.test('two identities are one chain where they are equal, or name two starts of one', (t) => {
  for (const [one, other, isSame] of [
    ['1', '1', true],
    ['1', '2', false],
    ['devA1', 'devA2', true],
    ['devA1', 'devB1', false],
    ['devA1', '1', false],
  ] as const) {
    t.equal(isSameChain(family, one, other), isSame, `${one} and ${other}`);
    t.equal(isSameChain(family, other, one), isSame, `${other} and ${one}`);
  }
  t.notOk(isSameChain({}, 'devA1', 'devA2'), 'of a family whose chains never start anew');
  t.notOk(isSameChain(undefined, 'devA1', 'devA2'), 'of a family that is not known');
  t.ok(isSameChain(undefined, '1', '1'));
  t.end();
});
