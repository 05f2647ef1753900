import t from 'tap';
import { FetchFailure } from '../../../../../src/egress/fetch/plugin-fetch.ts';

t.test('a failure says whether anything can have left', (t) => {
  const cause = new Error('socket');
  t.match(new FetchFailure('transport', 'gone', { cause }), {
    kind: 'transport',
    message: 'gone',
    unsent: false,
    cause,
  });
  t.equal(new FetchFailure('refused', 'no', { unsent: true }).unsent, true);
  t.end();
});
