import t from 'tap';
import { Access } from '../../../../../src/domain/settings/access.ts';
import { usersShown } from '../../../../../src/domain/settings/in-use.ts';
import { OPERATOR } from '../../../../support/caller.ts';

const users = [{ id: 'one' }, { id: 'two' }, { id: 'three' }];

t.test('who sees all is told all names', async (t) => {
  t.strictSame(usersShown(users, OPERATOR), { count: '3', relayers: 'one, two, three' });
});

t.test('a key is told of no relayer that does not exist for it', async (t) => {
  const access = new Access(['relayers:two:read']);
  t.strictSame(usersShown(users, { ...OPERATOR, access }), {
    count: '3',
    relayers: 'two, 2 that this key does not see',
  });
});
