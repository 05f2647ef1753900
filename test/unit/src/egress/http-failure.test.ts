import t from 'tap';
import { HttpFailure } from '../../../../src/egress/http-failure.ts';

t.test('a failure says of what kind it is, and keeps its cause', async (t) => {
  const cause = new Error('connect ECONNREFUSED');
  const failure = new HttpFailure('transport', 'connection failed', cause);
  t.match(failure, { name: 'HttpFailure', kind: 'transport', message: 'connection failed', cause });
});
