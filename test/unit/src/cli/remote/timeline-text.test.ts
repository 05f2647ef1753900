import t from 'tap';
import { timelineText } from '../../../../../src/cli/remote/timeline-text.ts';

t.test('each event stands where it happened, in words', (t) => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();
  const lines = timelineText({
    events: [
      { at: at(0), event: 'accepted' },
      { at: at(1), event: 'signed', version: 1, purpose: 'send', hash: '0x1', content: { max_time: 1, fee: 100 } },
      { at: at(1), event: 'submitted', version: 1, hash: '0x1', endpoint: 'https://node.example' },
      { at: at(5), event: 'decided', decision: 'bumped', text: 'dearer\u001b[2J' },
      { at: at(6), event: 'cancel_refused', text: 'too late' },
      { at: at(6), event: 'cancel_requested' },
      { at: at(10), event: 'ended', status: 'confirmed', hash: '0x2' },
    ],
  });
  t.match(lines, [
    /^ +0 ms {2}● +accepted$/,
    /^ +1\.0 s {2}─{4}● +signed, version 1 \(send\) 0x1 100 stroops$/,
    /submitted, version 1 to https:\/\/node\.example$/,
    /price raised: dearer\\u001b\[2J$/,
    /cancel refused: too late$/,
    /cancel requested$/,
    /^ +10\.0 s {2}─{39}● {2}confirmed$/,
  ]);
  t.strictSame(timelineText({ events: [] }), []);
  t.end();
});
