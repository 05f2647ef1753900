import t from 'tap';
import { wireTime } from '../../../../src/domain/wire-time.ts';

t.test('a moment is written with a numeric offset, as the clients of the reference parse it', async (t) => {
  t.equal(wireTime(0), '1970-01-01T00:00:00.000+00:00');
  t.equal(wireTime(1_700_000_000_123), '2023-11-14T22:13:20.123+00:00');
});
