import t from 'tap';
import { payloadCaps } from '../../../../../sandbox/driver/child/payload-caps.ts';
import { FIXED_LIMITS, UP } from '../../../../../sandbox/protocol.ts';

t.test('each kind of frame has its cap, and a result that of the version that is loaded', async (t) => {
  const caps = payloadCaps({ result_bytes: 1000 });
  t.equal(caps(UP.ENTER), 0);
  t.equal(caps(UP.REQUEST), FIXED_LIMITS.request_bytes);
  t.equal(caps(UP.DONE), 2000 + FIXED_LIMITS.up_frame_slack_bytes);
  t.equal(caps(99), undefined);
});
