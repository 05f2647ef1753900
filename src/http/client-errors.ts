import type { Socket } from 'node:net';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { ANSWER_HEADERS } from './answers/answer-headers.ts';
import { failure } from './answers/envelope.ts';

/**
 * Answers input from which Node makes no request: a head that cannot be parsed, or a request that arrives too slowly.
 * Writes the answer straight to the socket, then closes the socket.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, arrivalSeconds: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, appError } = translate(error, arrivalSeconds);
  const body = JSON.stringify(failure(appError));
  const headers = Object.entries(ANSWER_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `${headers.join('')}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

function translate(error: NodeJS.ErrnoException, arrivalSeconds: number): { status: string; appError: AppError } {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return {
      status: '408 Request Timeout',
      appError: new AppError('REQUEST_TIMEOUT', { seconds: String(arrivalSeconds) }),
    };
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return {
      status: '431 Request Header Fields Too Large',
      appError: invalidRequest('The header fields are too large'),
    };
  }
  return { status: '400 Bad Request', appError: invalidRequest('The request is not valid HTTP') };
}
