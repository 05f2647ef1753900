/**
 * The program of the bundler's worker. It starts esbuild's process. Both form one process group, which ends together.
 */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { FRAME_HEADER_BYTES, FrameDecoder, writeFrameHeader } from '../../../../sandbox/frames.ts';
import { type BuildEnd, performBuild } from '../guest-build.ts';
import { type BuildJob, mostRequestBytes, parseBuildJob, REPORT, WORKER_PROTOCOL } from './worker-messages.ts';

type Perform = (job: BuildJob, onRead: (file: string, state: string) => void) => Promise<BuildEnd>;

const CHANNEL_FD = 3;
/** The pid by which `kill` means the caller's own process group. */
const OWN_GROUP = 0;

/**
 * Does the builds that the server asks for over a channel, many at once.
 * @param end called when the channel ends, or nothing can be built any more
 */
export function serveBuilds(channel: Duplex, perform: Perform, end: () => void): void {
  const say = (kind: number, build: number, payload: Uint8Array | string = '') => {
    if (!channel.writable) return;
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    writeFrameHeader(header, 0, kind, build, bytes.length);
    channel.write(header);
    channel.write(bytes);
  };

  async function serve(build: number, text: string): Promise<void> {
    const ended = await perform(parseBuildJob(text), (file, state) =>
      say(REPORT.READ, build, JSON.stringify([file, state])),
    );
    switch (ended.kind) {
      case 'built':
        if (ended.map !== null) say(REPORT.MAP, build, ended.map);
        return say(REPORT.CODE, build, ended.code);
      case 'oversized':
        return say(REPORT.OVERSIZED, build, JSON.stringify(ended.bytes));
      case 'failed':
        return say(REPORT.FAILED, build, JSON.stringify({ problems: ended.problems, total: ended.total }));
      default:
        return ended satisfies never;
    }
  }

  const decoder = new FrameDecoder(mostRequestBytes, (_, build, text) => void serve(build, text).catch(end));
  channel.on('data', (chunk: Buffer) => {
    try {
      decoder.push(chunk);
    } catch {
      end();
    }
  });
  for (const event of ['error', 'end', 'close']) channel.on(event, end);
  say(REPORT.READY, WORKER_PROTOCOL);
}

function endAll(): void {
  try {
    process.kill(OWN_GROUP, 'SIGKILL');
  } catch {
    process.exit(1);
  }
}

if (import.meta.main) serveBuilds(new Socket({ fd: CHANNEL_FD }), performBuild, endAll);
