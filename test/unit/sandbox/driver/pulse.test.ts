/** Threat: a child that goes into the guest and never comes out, or falls silent so that nobody notices. */
import t from 'tap';
import { NO_CALL, Pulse } from '../../../../sandbox/driver/pulse.ts';
import { ProtocolViolation } from '../../../../sandbox/frames.ts';

const SLICE_MS = 500;

t.test('a stretch is overdue after its slice and the grace', async (t) => {
  const pulse = new Pulse(0);
  pulse.enter(7, 1000);
  t.equal(pulse.entered, 7);
  t.equal(pulse.overdue(1750, 750, SLICE_MS, false), null);
  t.match(pulse.overdue(1751, 751, SLICE_MS, false), /751 ms; 500 ms/);
  t.equal(pulse.overdue(3250, 600, SLICE_MS, false), null, 'others had the processor');
  t.match(pulse.overdue(3251, 600, SLICE_MS, false), /2251 ms; 500 ms/, 'four slices by the clock are the most');
  t.equal(pulse.leave(7, 1800), 800);
  t.equal(pulse.entered, null);
  t.equal(pulse.lastEntered, 7);
  t.equal(pulse.overdue(1e9, 0, SLICE_MS, false), null);
});

t.test('a module has its own limit', async (t) => {
  const pulse = new Pulse(0);
  pulse.enter(NO_CALL, 0);
  t.equal(pulse.overdue(5250, 0, SLICE_MS, true), null);
  t.match(pulse.overdue(5251, 20, SLICE_MS, true), /5000 ms are allowed/);
  t.equal(pulse.overdue(20_250, 0, 20_000, true), null, 'as long as a stretch of a call where that is more');
});

t.test('silence is overdue only when something is owed', async (t) => {
  const pulse = new Pulse(0);
  t.match(pulse.overdue(7251, 0, SLICE_MS, true), /no sign of life/);
  t.equal(pulse.overdue(7251, 0, SLICE_MS, false), null);
  pulse.heard(7200);
  t.equal(pulse.overdue(14_450, 0, SLICE_MS, true), null);
  t.match(pulse.overdue(14_451, 0, SLICE_MS, true), /no sign of life/);
});

t.test('what it owes counts from when it began to owe it, however long it had nothing to say', async (t) => {
  const pulse = new Pulse(0);
  t.equal(pulse.overdue(60_000, 0, SLICE_MS, false), null);
  t.equal(pulse.overdue(60_025, 0, SLICE_MS, true), null);
  t.equal(pulse.overdue(67_250, 0, SLICE_MS, true), null);
  t.match(pulse.overdue(67_251, 0, SLICE_MS, true), /no sign of life for 7251 ms/);
});

t.test('marks that do not fit are violations', async (t) => {
  const pulse = new Pulse(0);
  t.throws(() => pulse.leave(1, 0), ProtocolViolation);
  pulse.enter(1, 0);
  t.throws(() => pulse.enter(2, 0), ProtocolViolation);
  t.throws(() => pulse.leave(2, 0), ProtocolViolation);
});
