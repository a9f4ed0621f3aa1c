"""Tests of the API's description: complete, true of every answer and error, fit for generated clients."""
