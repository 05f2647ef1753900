/** The limits of one request. */
export interface HttpLimits {
  /** Largest body. No request that a chain takes is half as large. */
  bodyBytes: number;
  /** Largest body of a plugin call. */
  pluginBodyBytes: number;
  /** How long a request may take to arrive, head and body; 408 after that. */
  arrivalSeconds: number;
  /** How long a caller may leave an answer unread before its connection is cut. */
  unreadSeconds: number;
  /** How long a handler may take, plugin calls excepted; 504 after that. */
  handlerSeconds: number;
}

/** The limits that no variable changes. */
export const HTTP_LIMITS = {
  bodyBytes: 524_288,
  pluginBodyBytes: 2_097_152,
  arrivalSeconds: 20,
  unreadSeconds: 30,
} as const;
