// The test kit: a scripted model on loopback, for our tests and for other people's.
export type { Answer, Answers, Cut, Failed, Said, Stalled, Tokens, ToolCall } from './answer.ts';
export { type ModelServer, type ModelServerOptions, modelServer } from './model-server.ts';
export type { Message, ModelRequest, Protocol } from './request.ts';
