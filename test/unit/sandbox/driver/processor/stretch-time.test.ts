import t from 'tap';
import { StretchTime } from '../../../../../sandbox/driver/processor/stretch-time.ts';

t.test('a stretch has what its process took since the look before it, and no more than the clock says', async (t) => {
  const stretch = new StretchTime();
  t.equal(stretch.at(100, null, 40), 0, 'outside');
  t.equal(stretch.at(200, 150, 70), 30);
  t.equal(stretch.at(300, 150, 110), 70, 'the same stretch');
  t.equal(stretch.at(400, 390, 190), 10, 'the next has the time since the last look, of which 10 ms can be its own');
  t.equal(stretch.at(500, null, 290), 0);
});
