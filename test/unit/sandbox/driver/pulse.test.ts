/** Threat: a child that goes into the guest and never comes out, or falls silent so that nobody notices. */
import t from 'tap';
import { NO_CALL, Pulse } from '../../../../sandbox/driver/pulse.ts';
import { ProtocolViolation } from '../../../../sandbox/frames.ts';

const SLICE_MS = 500;

t.test('a stretch is overdue after four slices and the grace', async (t) => {
  const pulse = new Pulse(0);
  pulse.enter(7, 1000);
  t.equal(pulse.entered, 7);
  t.equal(pulse.overdue(3250, SLICE_MS, false), null, 'others may have had the processor');
  t.match(pulse.overdue(3251, SLICE_MS, false), /2251 ms; 2000 ms/);
  t.equal(pulse.leave(7, 3300), 2300);
  t.equal(pulse.entered, null);
  t.equal(pulse.lastEntered, 7);
  t.equal(pulse.overdue(1e9, SLICE_MS, false), null);
});

t.test('a module has its own limit', async (t) => {
  const pulse = new Pulse(0);
  pulse.enter(NO_CALL, 0);
  t.equal(pulse.overdue(5250, SLICE_MS, true), null);
  t.match(pulse.overdue(5251, SLICE_MS, true), /5000 ms are allowed/);
  t.equal(pulse.overdue(20_250, 20_000, true), null, 'as long as a stretch of a call where that is more');
});

t.test('silence is overdue only when something is owed', async (t) => {
  const pulse = new Pulse(0);
  t.match(pulse.overdue(7251, SLICE_MS, true), /no sign of life/);
  t.equal(pulse.overdue(7251, SLICE_MS, false), null);
  pulse.heard(7200);
  t.equal(pulse.overdue(14_450, SLICE_MS, true), null);
  t.match(pulse.overdue(14_451, SLICE_MS, true), /no sign of life/);
});

t.test('what it owes counts from when it began to owe it, however long it had nothing to say', async (t) => {
  const pulse = new Pulse(0);
  t.equal(pulse.overdue(60_000, SLICE_MS, false), null);
  t.equal(pulse.overdue(60_025, SLICE_MS, true), null);
  t.equal(pulse.overdue(67_250, SLICE_MS, true), null);
  t.match(pulse.overdue(67_251, SLICE_MS, true), /no sign of life for 7251 ms/);
});

t.test('marks that do not fit are violations', async (t) => {
  const pulse = new Pulse(0);
  t.throws(() => pulse.leave(1, 0), ProtocolViolation);
  pulse.enter(1, 0);
  t.throws(() => pulse.enter(2, 0), ProtocolViolation);
  t.throws(() => pulse.leave(2, 0), ProtocolViolation);
});
