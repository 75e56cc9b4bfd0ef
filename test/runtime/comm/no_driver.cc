// Stands for the CUDA driver where there is none (messages_test.cc): its name is all that it has.
